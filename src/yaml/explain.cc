#include "yaml/explain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::yaml {
namespace {

// By what the parser says.
constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
    {"end of map not found",
     "this line is not indented as the keys before it, and is not a value of theirs"},
    {"end of sequence not found",
     "this line is indented neither as an entry of the list before it, '- ', nor as a key of one"},
    {"illegal map value",
     "a ':' can't be here: a text that has ': ' in it needs quotes, and a key a line of its own"},
    {"illegal map key", "a key can't be here: it needs a line of its own"},
    {"illegal block entry", "a '- ' can't be here: an entry needs a line of its own"},
    {"illegal flow end", "this bracket closes nothing"},
    {"illegal EOF in scalar", "a text in quotes has no closing quote"},
    {"illegal document indicator in scalar", "a text in quotes has no closing quote"},
    {"unknown token", "a text can't begin with this character: put it in quotes"},
    {"alias not found after *", "a text that begins with * needs quotes"},
    {"anchor not found after &", "a text that begins with & needs quotes"},
    {"illegal character found while scanning alias", "a text that begins with * needs quotes"},
    {"illegal character found while scanning anchor", "a text that begins with & needs quotes"},
    {"the referenced anchor is not defined",
     "no anchor (&) defines this alias (*): a text that begins with * needs quotes"},
    {"illegal tab when looking for indentation", "a tab can't indent a line: use blanks"},
};

struct Bracket {
  char open = 0;
  uint32_t line = 0;
  uint32_t column = 0;
};

// Brackets that are open at the end of the text, outside of quotes and comments.
class BracketFinder {
 public:
  explicit BracketFinder(std::string_view text) : text_(text) {}

  std::optional<Bracket> LastOpen() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c == '#' && AfterBlank()) {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if ((c == '\'' || c == '"') && BeginsValue()) {
        SkipQuoted(c);
      } else if ((c == '{' || c == '[') && BeginsValue()) {
        open_.push_back({c, line_, static_cast<uint32_t>(at_ - line_start_ + 1)});
      } else if ((c == '}' || c == ']') && !open_.empty()) {
        open_.pop_back();
      }
    }
    if (open_.empty()) return std::nullopt;
    return open_.back();
  }

 private:
  bool AfterBlank() const {
    return at_ == line_start_ || text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t';
  }

  // Inside a plain text quotes and brackets are letters.
  bool BeginsValue() const {
    size_t before = at_;
    while (before > line_start_ && (text_[before - 1] == ' ' || text_[before - 1] == '\t')) {
      --before;
    }
    if (before == line_start_) return true;
    const char last = text_[before - 1];
    if (last == ',' || last == '{' || last == '[') return !open_.empty();
    return (last == ':' || last == '-') && before < at_;
  }

  void SkipQuoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (quote == '"' && text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      }
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  std::vector<Bracket> open_;
};

std::string_view LineOf(std::string_view text, uint32_t number) {
  for (uint32_t line = 1; line < number; ++line) {
    const size_t end = text.find('\n');
    if (end == text.npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// The line at that place, or next to it, that begins with blanks and tabs, tabs among them.
std::optional<Place> TabNear(std::string_view text, const Place& place) {
  for (const uint32_t line : {place.line, place.line - 1, place.line + 1}) {
    if (line == 0) continue;
    const std::string_view found = LineOf(text, line);
    const size_t tab = found.substr(0, found.find_first_not_of(" \t")).find('\t');
    if (tab != found.npos) return Place{place.file, line, static_cast<uint32_t>(tab + 1)};
  }
  return std::nullopt;
}

Status Invalid(const Place& place, std::string_view message) {
  return Error(Code::kInvalidArgument, "yaml.invalid", "{}", message).At(place);
}

}  // namespace

Status Explain(std::string_view text, std::string_view said, Place place) {
  if (const auto tab = TabNear(text, place)) {
    return Invalid(*tab, "a tab can't indent a line: use blanks");
  }
  if (said == "end of map flow not found" || said == "end of sequence flow not found") {
    const auto open = BracketFinder(text).LastOpen();
    const bool map = open ? open->open == '{' : said == "end of map flow not found";
    const std::string_view message =
        map ? "the { has no end: expected }, or a comma between entries"
            : "the [ has no end: expected ], or a comma between entries";
    if (open) return Invalid({place.file, open->line, open->column}, message);
    return Invalid(place, message);
  }
  for (const auto& [from, to] : kPlain) {
    if (said == from) return Invalid(place, to);
  }
  return Invalid(place, said);
}

}  // namespace sluice::yaml
