#include "json/extract.h"

#include <array>
#include <charconv>
#include <cstring>

#include "json/number.h"
#include "json/parse.h"
#include "json/skim.h"
#include "json/text.h"
#include "json/text_index.h"
#include "json/token_members.h"

namespace sluice::json {
namespace {

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
bool ReadPlainArray(std::string_view text, Value* value) {
  constexpr size_t kLikely = 4;
  std::vector<Value> items;
  items.reserve(kLikely);
  const char* const end = text.data() + text.size();
  const char* at = SkimSpace(text.data() + 1, end);
  if (at < end && *at == ']') {
    *value = Value::EmptyArray();
    return true;
  }
  while (at < end) {
    const char* const next = SkimValue(at, end);
    if (next == nullptr || !ReadPlain({at, next}, &items.emplace_back())) return false;
    at = SkimSpace(next, end);
    if (at < end && *at == ']') break;
    if (at == end || *at != ',') return false;
    at = SkimSpace(at + 1, end);
  }
  *value = Value::Array(std::move(items));
  return at < end;
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

// One pass over one document. Recursion is bounded by kMaxPathSteps. Positions are those of skim.h:
// null for a text that is not JSON.
class Extractor::Walk {
 public:
  Walk(const std::vector<Node>& nodes, std::string_view document, std::string_view* results)
      : nodes_(nodes),
        begin_(document.data()),
        end_(document.data() + document.size()),
        results_(results) {}

  // False if the document is not JSON.
  bool Run() {
    const char* const start = SkimSpace(begin_, end_);
    const char* const after = start < end_ ? Visit(nodes_[0], start) : nullptr;
    return after != nullptr && SkimSpace(after, end_) == end_;
  }

 private:
  // Visits the value at `at` for a node and returns the position after it.
  const char* Visit(const Node& node, const char* at) {
    const char* next;
    if (*at == '{' && !node.fields.empty()) {
      next = VisitObject(node, at);
    } else if (*at == '[' && !node.elements.empty()) {
      next = VisitArray(node, at);
    } else {
      next = SkimValue(at, end_);
    }
    if (next == nullptr) return next;
    for (const size_t result : node.results) results_[result] = {at, next};
    return next;
  }

  // The child that the field at `at` leads to; null if none does. `*value` becomes the position of
  // its value, or null.
  const Node* ChildAt(const Node& node, const char* at, const char** value) {
    bool escaped = false;
    *value = nullptr;
    if (at == end_ || *at != '"') return nullptr;
    const char* const after = SkimString(at, end_, &escaped);
    if (after == nullptr) return nullptr;
    const std::string_view name(at + 1, after - 1);
    const char* const colon = SkimSpace(after, end_);
    if (colon == end_ || *colon != ':') return nullptr;
    const char* const start = SkimSpace(colon + 1, end_);
    if (start < end_) *value = start;
    for (const auto& [known, child] : node.fields) {
      if (escaped ? InsideEquals(name, known) : name == known) return &nodes_[child];
    }
    return nullptr;
  }

  const char* VisitObject(const Node& node, const char* at) {
    at = SkimSpace(at + 1, end_);
    if (at < end_ && *at == '}') return at + 1;
    while (true) {
      const char* value;
      const Node* const child = ChildAt(node, at, &value);
      if (value == nullptr) return nullptr;
      if (child != nullptr) Forget(*child);  // the results of an earlier field of this name
      at = child != nullptr ? Visit(*child, value) : SkimValue(value, end_);
      if (at == nullptr || (at = SkimSpace(at, end_)) == end_) return nullptr;
      if (*at == '}') return at + 1;
      if (*at != ',') return nullptr;
      at = SkimSpace(at + 1, end_);
    }
  }

  // Calls `each` with the number and position of every element, which returns the position after
  // it.
  template <typename Each>
  const char* Elements(const char* at, const Each& each) {
    at = SkimSpace(at + 1, end_);
    if (at < end_ && *at == ']') return at + 1;
    for (size_t position = 0; at < end_; ++position) {
      at = each(position, at);
      if (at == nullptr || (at = SkimSpace(at, end_)) == end_) return nullptr;
      if (*at == ']') return at + 1;
      if (*at != ',') return nullptr;
      at = SkimSpace(at + 1, end_);
    }
    return nullptr;
  }

  const char* VisitArray(const Node& node, const char* at) {
    size_t size = 0;
    if (node.from_end) {
      const auto count = [&](size_t position, const char* element) {
        size = position + 1;
        return SkimValue(element, end_);
      };
      if (Elements(at, count) == nullptr) return nullptr;
    }
    return Elements(at, [&](size_t position, const char* element) {
      const char* next = nullptr;
      // [2] and [-1] may be the same element, so all children are asked.
      for (const auto& [wanted, child] : node.elements) {
        if (wanted < 0 && static_cast<size_t>(-wanted) > size) continue;
        if (ResolveIndex(wanted, size) != position) continue;
        next = Visit(nodes_[child], element);
        if (next == nullptr) return next;
      }
      return next != nullptr ? next : SkimValue(element, end_);
    });
  }

  void Forget(const Node& node) {
    for (const size_t result : node.results) results_[result] = {};
    for (const auto& [name, child] : node.fields) Forget(nodes_[child]);
    for (const auto& [wanted, child] : node.elements) Forget(nodes_[child]);
  }

  const std::vector<Node>& nodes_;
  const char* const begin_;
  const char* const end_;
  std::string_view* const results_;
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
  if (!Walk(nodes_, document, results.data()).Run()) return Unexpected(MalformedDocument());
  return results;
}

Result<std::vector<Value>> Extractor::Values(std::string_view document) const {
  std::vector<Value> values(path_count_);
  RETURN_IF_ERROR(Values(document, values));
  return values;
}

Status Extractor::Values(std::string_view document, std::span<Value> values) const {
  constexpr size_t kFew = 16;
  std::array<std::string_view, kFew> few;
  std::vector<std::string_view> many(path_count_ > kFew ? path_count_ : 0);
  std::string_view* const found = many.empty() ? few.data() : many.data();
  if (!Walk(nodes_, document, found).Run()) return MalformedDocument();
  for (size_t i = 0; i < path_count_; ++i) {
    const std::string_view raw = found[i];
    if (raw.empty()) {
      values[i] = Value();
      continue;
    }
    if (ReadPlain(raw, &values[i])) continue;
    if (raw.front() == '[' && ReadPlainArray(raw, &values[i])) continue;
    ASSIGN_OR_RETURN(values[i], Parse(raw, {.max_bytes = raw.size()}));
  }
  return OkStatus();
}

}  // namespace sluice::json
