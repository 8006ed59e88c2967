#include "json/extract.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "json/number.h"
#include "json/parse.h"
#include "json/text.h"
#include "json/text_index.h"
#include "json/token_members.h"

namespace sluice::json {
namespace {

// Where a path's value is: its first token and the one after it.
struct Found {
  size_t token = TextIndex::kNoToken;
  size_t next = 0;
};

// Views of a value's text, from its first token to the one after it.
std::string_view Span(const TextIndex& index, size_t token, size_t next) {
  const size_t begin = index.Position(token);
  return index.text().substr(begin, index.EndOf(token, next) - begin);
}

// The value that one step leads to from the one at `token`; kNoToken in `*found` if none does.
Status FindStep(const TextIndex& index, size_t token, const PathStep& step, size_t* found) {
  *found = TextIndex::kNoToken;
  const auto* name = std::get_if<std::string>(&step);
  if (index.At(token) != (name != nullptr ? '{' : '[')) return OkStatus();
  std::vector<size_t> elements;  // when one is counted from the end
  const int64_t wanted = name != nullptr ? 0 : std::get<int64_t>(step);
  TokenMembers members(index, token);
  int64_t position = 0;
  for (TokenMember member; members.Next(&member); ++position) {
    if (name != nullptr) {
      if (InsideEquals(member.name, *name)) *found = member.token;
    } else if (wanted < 0) {
      elements.push_back(member.token);
    } else if (position == wanted) {
      *found = member.token;
      return OkStatus();
    }
  }
  if (!members.ok()) return MalformedDocument();
  if (wanted < 0) {
    const size_t at = ResolveIndex(wanted, elements.size());
    if (at < elements.size()) *found = elements[at];
  }
  return OkStatus();
}

// Most values are plain: a string without escapes, an integer, a word. Those need no parser.
bool ReadPlain(std::string_view text, Value* value) {
  const char first = text.front();
  if (first == '"') {
    const std::string_view inside = text.substr(1, text.size() - 2);
    if (text.size() < 2 || std::memchr(inside.data(), '\\', inside.size()) != nullptr) return false;
    *value = Value(inside);
    return true;
  }
  if (first == '-' || (first >= '0' && first <= '9')) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && text != "-0") {
      *value = Value(number);
    } else if (NumberLength(text) == text.size()) {
      *value = NumberFromLiteral(text);
    } else {
      return false;
    }
    return true;
  }
  if (text == "true" || text == "false") {
    *value = Value(first == 't');
    return true;
  }
  if (text == "null") *value = Value(nullptr);
  return text == "null";
}

// An array whose elements are all plain. Where it returns false, `*value` may be anything.
bool ReadPlainArray(const TextIndex& index, size_t token, size_t next, Value* value) {
  std::vector<Value> items;
  items.reserve((next - token) / 2);  // each is a token, and so is what follows it
  TokenMembers members(index, token);
  for (TokenMember member; members.Next(&member);) {
    if (!ReadPlain(Span(index, member.token, member.next), &items.emplace_back())) return false;
  }
  *value = Value::Array(std::move(items));
  return members.ok();
}

Result<size_t> CountMembers(const TextIndex& index, size_t token) {
  TokenMembers members(index, token);
  size_t count = 0;
  for (TokenMember member; members.Next(&member);) ++count;
  if (!members.ok()) return Unexpected(MalformedDocument());
  return count;
}

}  // namespace

Result<std::optional<std::string_view>> FindRaw(std::string_view document, const Path& path) {
  const TextIndex index(document);
  if (!index.ok()) return Unexpected(MalformedDocument());
  size_t token = 0;
  for (const PathStep& step : path.steps()) {
    RETURN_IF_ERROR(FindStep(index, token, step, &token));
    if (token == TextIndex::kNoToken) return std::nullopt;
  }
  const size_t next = index.Skip(token);
  if (next == TextIndex::kNoToken) return Unexpected(MalformedDocument());
  return Span(index, token, next);
}

// One pass over one document. Recursion is bounded by kMaxPathSteps.
class Extractor::Walk {
 public:
  Walk(const std::vector<Node>& nodes, const TextIndex& index, std::vector<Found>* results)
      : nodes_(nodes),
        index_(index),
        escapes_(index.text().find('\\') != std::string_view::npos),
        results_(results) {}

  // Visits the value at `token` for a node and returns the token after it, or kNoToken.
  size_t Visit(const Node& node, size_t token) {
    size_t next;
    if (index_.At(token) == '{' && !node.fields.empty()) {
      next = VisitObject(node, token);
    } else if (index_.At(token) == '[' && !node.elements.empty()) {
      next = VisitArray(node, token);
    } else {
      next = index_.Skip(token);
    }
    if (next == TextIndex::kNoToken) return next;
    for (const size_t result : node.results) (*results_)[result] = {token, next};
    return next;
  }

 private:
  bool Matches(std::string_view inside, const std::string& name) const {
    return escapes_ ? InsideEquals(inside, name) : inside == name;
  }

  size_t VisitObject(const Node& node, size_t token) {
    TokenMembers members(index_, token);
    for (TokenMember member; members.NextBegin(&member);) {
      const auto child = std::find_if(node.fields.begin(), node.fields.end(),
                                      [&](const auto& f) { return Matches(member.name, f.first); });
      if (child == node.fields.end()) {
        member.next = index_.Skip(member.token);
      } else {
        Forget(nodes_[child->second]);  // what an earlier field of this name gave
        member.next = Visit(nodes_[child->second], member.token);
      }
      if (member.next == TextIndex::kNoToken) return member.next;
      members.Resume(member.next);
    }
    return members.ok() ? members.next() : TextIndex::kNoToken;
  }

  size_t VisitArray(const Node& node, size_t token) {
    size_t size = 0;
    if (node.from_end) {
      const Result<size_t> count = CountMembers(index_, token);
      if (!count) return TextIndex::kNoToken;
      size = *count;
    }
    TokenMembers members(index_, token);
    size_t position = 0;
    for (TokenMember member; members.Next(&member); ++position) {
      // [2] and [-1] may be the same element, so all children are asked.
      for (const auto& [wanted, child] : node.elements) {
        if (wanted < 0 && static_cast<size_t>(-wanted) > size) continue;
        if (ResolveIndex(wanted, size) != position) continue;
        if (Visit(nodes_[child], member.token) == TextIndex::kNoToken) return TextIndex::kNoToken;
      }
    }
    return members.ok() ? members.next() : TextIndex::kNoToken;
  }

  void Forget(const Node& node) {
    for (const size_t result : node.results) (*results_)[result] = Found();
    for (const auto& [name, child] : node.fields) Forget(nodes_[child]);
    for (const auto& [wanted, child] : node.elements) Forget(nodes_[child]);
  }

  const std::vector<Node>& nodes_;
  const TextIndex& index_;
  const bool escapes_;  // without any, a name is what stands between its quotes
  std::vector<Found>* const results_;
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
  std::vector<Found> found(path_count_);
  const TextIndex index(document);
  if (!index.ok() || Walk(nodes_, index, &found).Visit(nodes_[0], 0) != index.size()) {
    return Unexpected(MalformedDocument());
  }
  std::vector<std::string_view> results(path_count_);
  for (size_t i = 0; i < path_count_; ++i) {
    if (found[i].token != TextIndex::kNoToken) {
      results[i] = Span(index, found[i].token, found[i].next);
    }
  }
  return results;
}

Result<std::vector<Value>> Extractor::Values(std::string_view document) const {
  std::vector<Value> values(path_count_);
  RETURN_IF_ERROR(Values(document, values));
  return values;
}

Status Extractor::Values(std::string_view document, std::span<Value> values) const {
  thread_local std::vector<Found> found;
  found.assign(path_count_, {});
  const TextIndex index(document);
  if (!index.ok() || Walk(nodes_, index, &found).Visit(nodes_[0], 0) != index.size()) {
    return MalformedDocument();
  }
  for (size_t i = 0; i < path_count_; ++i) {
    const auto [token, next] = found[i];
    if (token == TextIndex::kNoToken) {
      values[i] = Value();
      continue;
    }
    const std::string_view raw = Span(index, token, next);
    if (ReadPlain(raw, &values[i])) continue;
    if (raw.front() == '[' && ReadPlainArray(index, token, next, &values[i])) continue;
    ASSIGN_OR_RETURN(values[i], Parse(raw, {.max_bytes = raw.size()}));
  }
  return OkStatus();
}

}  // namespace sluice::json
