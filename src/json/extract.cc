#include "json/extract.h"

#include <algorithm>

#include "json/members.h"
#include "json/parse.h"
#include "json/text.h"

namespace sluice::json {
namespace {

// The value that one step leads to from the container at `at`; kNoPosition in `*found` if none.
Status FindStep(std::string_view text, size_t at, const PathStep& step, size_t* found) {
  *found = kNoPosition;
  const auto* name = std::get_if<std::string>(&step);
  if (at >= text.size() || text[at] != (name != nullptr ? '{' : '[')) return OkStatus();
  std::vector<size_t> begins;  // of elements, when one is counted from the end
  const int64_t index = name != nullptr ? 0 : std::get<int64_t>(step);
  Members members(text, at);
  int64_t position = 0;
  for (Member member; members.Next(&member); ++position) {
    if (name != nullptr) {
      if (InsideEquals(member.name, *name)) *found = member.begin;
    } else if (index < 0) {
      begins.push_back(member.begin);
    } else if (position == index) {
      *found = member.begin;
      return OkStatus();
    }
  }
  if (!members.ok()) return MalformedDocument();
  if (index < 0) {
    const size_t at_index = ResolveIndex(index, begins.size());
    if (at_index < begins.size()) *found = begins[at_index];
  }
  return OkStatus();
}

Result<size_t> CountMembers(std::string_view text, size_t at) {
  Members members(text, at);
  size_t count = 0;
  for (Member member; members.Next(&member);) ++count;
  if (!members.ok()) return Unexpected(MalformedDocument());
  return count;
}

}  // namespace

Result<std::optional<std::string_view>> FindRaw(std::string_view document, const Path& path) {
  size_t at = SkipSpace(document, 0);
  if (at == document.size()) return Unexpected(MalformedDocument());
  for (const PathStep& step : path.steps()) {
    RETURN_IF_ERROR(FindStep(document, at, step, &at));
    if (at == kNoPosition) return std::nullopt;
  }
  const size_t end = SkipValue(document, at);
  if (end == kNoPosition) return Unexpected(MalformedDocument());
  return document.substr(at, end - at);
}

// One pass over one document. Recursion is bounded by kMaxPathSteps.
class Extractor::Walk {
 public:
  Walk(const std::vector<Node>& nodes, std::string_view text,
       std::vector<std::string_view>* results)
      : nodes_(nodes), text_(text), results_(results) {}

  // Visits the value at `at` for a node and returns the position after it.
  Result<size_t> Visit(const Node& node, size_t at) {
    size_t end = kNoPosition;
    if (at < text_.size() && text_[at] == '{' && !node.fields.empty()) {
      ASSIGN_OR_RETURN(end, VisitObject(node, at));
    } else if (at < text_.size() && text_[at] == '[' && !node.elements.empty()) {
      ASSIGN_OR_RETURN(end, VisitArray(node, at));
    } else {
      end = SkipValue(text_, at);
      if (end == kNoPosition) return Unexpected(MalformedDocument());
    }
    for (const size_t result : node.results) (*results_)[result] = text_.substr(at, end - at);
    return end;
  }

 private:
  Result<size_t> VisitObject(const Node& node, size_t at) {
    Members members(text_, at);
    Member member;
    while (members.NextBegin(&member)) {
      const auto child = std::find_if(node.fields.begin(), node.fields.end(), [&](const auto& f) {
        return InsideEquals(member.name, f.first);
      });
      size_t end;
      if (child != node.fields.end()) {
        Forget(nodes_[child->second]);  // what an earlier field of this name gave
        ASSIGN_OR_RETURN(end, Visit(nodes_[child->second], member.begin));
      } else {
        end = SkipValue(text_, member.begin);
        if (end == kNoPosition) return Unexpected(MalformedDocument());
      }
      members.EndAt(end);
    }
    if (!members.ok()) return Unexpected(MalformedDocument());
    return members.end();
  }

  Result<size_t> VisitArray(const Node& node, size_t at) {
    size_t size = 0;
    if (node.from_end) {
      ASSIGN_OR_RETURN(size, CountMembers(text_, at));
    }
    Members members(text_, at);
    Member member;
    for (size_t position = 0; members.NextBegin(&member); ++position) {
      size_t end = kNoPosition;
      // [2] and [-1] may be the same element, so all children are asked.
      for (const auto& [index, child] : node.elements) {
        if (ResolveIndex(index, size) != position || (index < 0 && size == 0)) continue;
        ASSIGN_OR_RETURN(end, Visit(nodes_[child], member.begin));
      }
      if (end == kNoPosition) end = SkipValue(text_, member.begin);
      if (end == kNoPosition) return Unexpected(MalformedDocument());
      members.EndAt(end);
    }
    if (!members.ok()) return Unexpected(MalformedDocument());
    return members.end();
  }

  void Forget(const Node& node) {
    for (const size_t result : node.results) (*results_)[result] = {};
    for (const auto& [name, child] : node.fields) Forget(nodes_[child]);
    for (const auto& [index, child] : node.elements) Forget(nodes_[child]);
  }

  const std::vector<Node>& nodes_;
  const std::string_view text_;
  std::vector<std::string_view>* const results_;
};

Extractor::Extractor(const std::vector<Path>& paths) : nodes_(1), path_count_(paths.size()) {
  for (size_t i = 0; i < paths.size(); ++i) {
    size_t node = 0;
    for (const PathStep& step : paths[i].steps()) node = ChildOf(node, step);
    nodes_[node].results.push_back(i);
  }
}

size_t Extractor::ChildOf(size_t node, const PathStep& step) {
  const size_t added = nodes_.size();
  if (const auto* index = std::get_if<int64_t>(&step)) {
    for (const auto& [known, child] : nodes_[node].elements) {
      if (known == *index) return child;
    }
    nodes_[node].elements.emplace_back(*index, added);
    nodes_[node].from_end |= *index < 0;
  } else {
    const auto& name = std::get<std::string>(step);
    for (const auto& [known, child] : nodes_[node].fields) {
      if (known == name) return child;
    }
    nodes_[node].fields.emplace_back(name, added);
  }
  nodes_.emplace_back();
  return added;
}

Result<std::vector<std::string_view>> Extractor::Raw(std::string_view document) const {
  std::vector<std::string_view> results(path_count_);
  const size_t start = SkipSpace(document, 0);
  ASSIGN_OR_RETURN(const size_t end, Walk(nodes_, document, &results).Visit(nodes_[0], start));
  if (SkipSpace(document, end) != document.size()) return Unexpected(MalformedDocument());
  return results;
}

Result<std::vector<Value>> Extractor::Values(std::string_view document) const {
  ASSIGN_OR_RETURN(const std::vector<std::string_view> raw, Raw(document));
  std::vector<Value> values(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i].empty()) continue;
    ASSIGN_OR_RETURN(values[i], Parse(raw[i], {.max_bytes = raw[i].size()}));
  }
  return values;
}

}  // namespace sluice::json
