#include "flow/compile.h"

#include <map>
#include <utility>

#include "base/nearest.h"
#include "flow/draft.h"
#include "flow/plan.h"
#include "flow/source_tree.h"

namespace sluice::flow {
namespace {

struct Candidate {
  FlowDraft draft;
  bool good = true;
};

// A flow that calls a missing or faulty flow is faulty itself.
class FlowLinker {
 public:
  FlowLinker(std::map<std::string, Candidate>* candidates, Problems* problems)
      : candidates_(*candidates), problems_(problems) {
    for (const auto& [id, candidate] : candidates_) ids_.push_back(id);
  }

  void Link() {
    for (auto& [id, candidate] : candidates_) CheckCalls(&candidate);
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto& [id, candidate] : candidates_) {
        if (candidate.good && CallsABadOne(&candidate)) changed = true;
      }
    }
  }

 private:
  struct Called {
    std::string id;
    Place place;
  };

  static std::vector<Called> CalledBy(const FlowDraft& draft) {
    std::vector<Called> called;
    for (size_t i = 0; i < draft.flow.tasks.size(); ++i) {
      const Task& task = draft.flow.tasks[i];
      if (task.is_subflow()) called.push_back({task.subflow, draft.tasks[i].route_place});
    }
    const auto add = [&](const std::string& target) {
      if (!target.starts_with(kFlowScheme)) return;
      called.push_back({target.substr(kFlowScheme.size()), draft.flow.place});
    };
    add(draft.flow.external_route);
    for (const std::string& listener : draft.flow.listeners) add(listener);
    return called;
  }

  void CheckCalls(Candidate* candidate) {
    for (const Called& called : CalledBy(candidate->draft)) {
      if (candidates_.contains(called.id)) continue;
      candidate->good = false;
      problems_->AddError(Error(Code::kNotFound, "flow.unknown_flow", "flow://{} not defined{}",
                                called.id, DidYouMean(called.id, ids_))
                              .At(called.place));
    }
  }

  bool CallsABadOne(Candidate* candidate) {
    for (const Called& called : CalledBy(candidate->draft)) {
      if (candidates_.at(called.id).good) continue;
      candidate->good = false;
      problems_->AddError(Error(Code::kInvalidArgument, "flow.unknown_flow",
                                "flow://{} has errors and is not loaded", called.id)
                              .At(called.place));
    }
    return !candidate->good;
  }

  std::map<std::string, Candidate>& candidates_;
  Problems* const problems_;
  std::vector<std::string> ids_;
};

// Notes the probable id of a text that is not YAML, so that flows which call it do not get the
// error that it does not exist.
void NoteUnread(const FlowText& unread, std::map<std::string, Candidate>* candidates) {
  constexpr std::string_view kBlanks = " \t'\"";
  const std::string_view text = unread.text;
  const size_t key = text.find("id:");
  const size_t begin = key == text.npos ? key : text.find_first_not_of(kBlanks, key + 3);
  if (begin == text.npos) return;
  const std::string id(text.substr(begin, text.find_first_of(" \t\r\n'\",}", begin) - begin));
  Candidate candidate;
  candidate.good = false;
  candidate.draft.file = unread.file;
  if (!id.empty()) candidates->emplace(id, std::move(candidate));
}

void ReadOne(const FlowText& text, const CompileOptions& options,
             std::map<std::string, Candidate>* candidates, Problems* problems) {
  const size_t errors_before = problems->errors();
  const auto tree = ReadTree(text.text, text.file, *options.settings, problems);
  if (!tree) return NoteUnread(text, candidates);
  const Reading reading{text.file, options, problems};
  Candidate candidate;
  candidate.draft = ReadFlow(*tree, reading);
  LinkFlow(&candidate.draft, options, problems);
  const std::string id = candidate.draft.flow.id;
  if (id.empty()) return;
  if (const auto found = candidates->find(id); found != candidates->end()) {
    problems->AddError(Error(Code::kAlreadyExists, "flow.duplicate_flow",
                             "Flow '{}' already exists ({})", id, found->second.draft.file)
                           .At(candidate.draft.flow.place));
    return;
  }
  candidate.good = problems->errors() == errors_before;
  candidates->emplace(id, std::move(candidate));
}

}  // namespace

std::shared_ptr<const FlowSet> CompileFlows(const std::vector<FlowText>& texts,
                                            const CompileOptions& options, Problems* problems,
                                            std::set<std::string, std::less<>>* refused) {
  if (texts.size() > kMaxFlows) {
    problems->AddError(Error(Code::kTooLarge, "flow.too_large", "more than {} flows", kMaxFlows));
    return std::make_shared<const FlowSet>();
  }
  std::map<std::string, Candidate> candidates;
  for (const FlowText& text : texts) ReadOne(text, options, &candidates, problems);
  FlowLinker(&candidates, problems).Link();
  std::vector<std::shared_ptr<const Flow>> flows;
  for (auto& [id, candidate] : candidates) {
    if (candidate.good) {
      flows.push_back(std::make_shared<const Flow>(std::move(candidate.draft.flow)));
    } else if (refused != nullptr) {
      refused->insert(id);
    }
  }
  return std::make_shared<const FlowSet>(std::move(flows));
}

}  // namespace sluice::flow
