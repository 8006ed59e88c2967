#include "flow/compile.h"

#include <map>
#include <utility>

#include "base/nearest.h"
#include "flow/draft.h"
#include "flow/source_tree.h"

namespace sluice::flow {
namespace {

struct Candidate {
  FlowDraft draft;
  bool good = true;
};

// A flow that calls one that is not there, or is not good, is not good itself.
class FlowLinker {
 public:
  FlowLinker(std::map<std::string, Candidate>* candidates, Problems* problems)
      : candidates_(*candidates), problems_(problems) {
    for (const auto& [id, candidate] : candidates_) ids_.push_back(id);
  }

  void Link() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto& [id, candidate] : candidates_) {
        if (candidate.good && !CallsAreGood(candidate.draft)) {
          candidate.good = false;
          changed = true;
        }
      }
    }
  }

 private:
  bool CallsAreGood(const FlowDraft& draft) {
    bool good = true;
    for (const Task& task : draft.flow.tasks) {
      if (task.is_subflow()) good = IsGood(task.subflow, task.place) && good;
    }
    constexpr std::string_view kPrefix = "flow://";
    const std::string& external = draft.flow.external_route;
    if (external.starts_with(kPrefix)) {
      good = IsGood(external.substr(kPrefix.size()), draft.flow.place) && good;
    }
    return good;
  }

  bool IsGood(const std::string& id, const Place& place) {
    const auto found = candidates_.find(id);
    if (found != candidates_.end() && found->second.good) return true;
    const Status status = found == candidates_.end()
                              ? Error(Code::kNotFound, "flow.unknown_flow",
                                      "flow://{} not defined{}", id, DidYouMean(id, ids_))
                              : Error(Code::kInvalidArgument, "flow.unknown_flow",
                                      "flow://{} has errors and is not loaded", id);
    problems_->AddError(status.At(place));
    return false;
  }

  std::map<std::string, Candidate>& candidates_;
  Problems* const problems_;
  std::vector<std::string> ids_;
};

void ReadOne(const FlowText& text, const CompileOptions& options,
             std::map<std::string, Candidate>* candidates, Problems* problems) {
  const size_t errors_before = problems->errors();
  const auto tree = ReadTree(text.text, text.file, *options.settings, problems);
  if (!tree) return;
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
                                            const CompileOptions& options, Problems* problems) {
  if (texts.size() > kMaxFlows) {
    problems->AddError(Error(Code::kTooLarge, "flow.too_large", "more than {} flows", kMaxFlows));
    return std::make_shared<const FlowSet>();
  }
  std::map<std::string, Candidate> candidates;
  for (const FlowText& text : texts) ReadOne(text, options, &candidates, problems);
  FlowLinker(&candidates, problems).Link();
  std::vector<std::shared_ptr<const Flow>> flows;
  for (auto& [id, candidate] : candidates) {
    if (candidate.good)
      flows.push_back(std::make_shared<const Flow>(std::move(candidate.draft.flow)));
  }
  return std::make_shared<const FlowSet>(std::move(flows));
}

}  // namespace sluice::flow
