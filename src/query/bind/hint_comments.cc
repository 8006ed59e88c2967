#include "query/bind/hint_comments.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/functions/text.h"

namespace sluice::query {
namespace {

// NAME(word word ...), or a word that is no such thing.
struct Hint {
  std::string text;
  std::string name;
  std::vector<std::string> words;
};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ','; }

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  bool quoted = false;
  bool inside = false;
  for (const char c : text) {
    if (c == '`') {
      quoted = !quoted;
      if (!std::exchange(inside, true)) words.emplace_back();
    } else if (!quoted && IsSpace(c)) {
      inside = false;
    } else {
      if (!std::exchange(inside, true)) words.emplace_back();
      words.back() += c;
    }
  }
  return words;
}

std::vector<Hint> ReadHints(std::string_view text) {
  std::vector<Hint> hints;
  while (!text.empty()) {
    if (IsSpace(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    size_t end = 0;
    while (end < text.size() && !IsSpace(text[end]) && text[end] != '(') ++end;
    Hint hint;
    size_t open = end;
    while (open < text.size() && IsSpace(text[open])) ++open;
    const size_t close = open < text.size() && text[open] == '(' ? text.find(')', open) : text.npos;
    if (close != text.npos) {
      hint.name = text.substr(0, end);
      hint.words = Words(text.substr(open + 1, close - open - 1));
      end = close + 1;
    }
    if (end == 0) end = 1;
    hint.text = text.substr(0, end);
    text.remove_prefix(end);
    hints.push_back(std::move(hint));
  }
  return hints;
}

FromTerm* FindTerm(FromClause& from, std::string_view alias) {
  if (from.first.alias == alias) return &from.first;
  for (JoinClause& join : from.joins) {
    if (join.term.alias == alias) return &join.term;
  }
  return nullptr;
}

bool SetMethod(FromClause& from, std::string_view alias, JoinMethodHint method) {
  FromTerm* term = FindTerm(from, alias);
  if (term == nullptr) return false;
  if (term->join_method == JoinMethodHint::kNone) term->join_method = method;
  return true;
}

bool ApplyHash(FromClause& from, std::string_view word) {
  const size_t slash = word.rfind('/');
  const std::string_view side = slash == word.npos ? "BUILD" : word.substr(slash + 1);
  const bool probe = ToLowerAscii(side) == "probe";
  if (!probe && ToLowerAscii(side) != "build") return false;
  return SetMethod(from, word.substr(0, slash),
                   probe ? JoinMethodHint::kHashProbe : JoinMethodHint::kHashBuild);
}

bool ApplyIndex(FromClause& from, const std::vector<std::string>& words) {
  FromTerm* term = words.size() < 2 ? nullptr : FindTerm(from, words[0]);
  if (term == nullptr) return false;
  if (!term->use_index.empty()) return true;
  for (size_t i = 1; i < words.size(); ++i) term->use_index.push_back({.name = words[i]});
  return true;
}

bool Apply(FromClause& from, const Hint& hint) {
  const std::string name = ToLowerAscii(hint.name);
  if (name == "index") return ApplyIndex(from, hint.words);
  const bool hash = name == "use_hash";
  if (!hash && name != "use_nl") return false;
  bool all = !hint.words.empty();
  for (const std::string& word : hint.words) {
    all &= hash ? ApplyHash(from, word) : SetMethod(from, word, JoinMethodHint::kNestedLoop);
  }
  return all;
}

}  // namespace

void ApplyHintComments(SelectBlock& block) {
  std::vector<std::string> left;
  for (const std::string& comment : block.hints) {
    for (const Hint& hint : ReadHints(comment)) {
      if (!block.from || !Apply(*block.from, hint)) left.push_back(hint.text);
    }
  }
  block.hints = std::move(left);
}

}  // namespace sluice::query
