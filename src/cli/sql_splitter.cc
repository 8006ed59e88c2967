#include "cli/sql_splitter.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace sluice::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";
constexpr std::string_view kBodyEnd = "$$";
// CREATE OR REPLACE DEFAULT PROCEDURE.
constexpr size_t kWordsBeforeBody = 5;

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The first words in upper case, up to the first token that is not a word.
std::vector<std::string> Words(std::string_view text, size_t most) {
  std::vector<std::string> words;
  while (words.size() < most) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    std::string word;
    while (word.size() < text.size() && IsWordCharacter(text[word.size()])) {
      const char c = text[word.size()];
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    if (word.empty()) break;
    text.remove_prefix(word.size());
    words.push_back(std::move(word));
  }
  return words;
}

// The length of [[ or [==[ at the beginning; 0 for other text.
size_t LongBracket(std::string_view text) {
  if (!text.starts_with('[')) return 0;
  const size_t second = text.find_first_not_of('=', 1);
  return second != std::string_view::npos && text[second] == '[' ? second + 1 : 0;
}

}  // namespace

std::string FirstWord(std::string_view statement) {
  const std::vector<std::string> words = Words(statement, 1);
  return words.empty() ? "" : words[0];
}

std::string SecondWord(std::string_view statement) {
  const std::vector<std::string> words = Words(statement, 2);
  return words.size() < 2 ? "" : words[1];
}

void SqlSplitter::Feed(std::string_view lines) {
  if (!begun_) {
    text_.erase(0, at_);
    at_ = 0;
  }
  text_ += lines;
}

void SqlSplitter::Advance(size_t bytes) {
  for (const size_t end = std::min(at_ + bytes, text_.size()); at_ < end; ++at_) {
    if (text_[at_] == '\n') {
      ++line_;
      column_ = 1;
    } else if (!IsContinuation(text_[at_])) {
      ++column_;
    }
  }
}

void SqlSplitter::Begin() {
  if (begun_) return;
  begun_ = true;
  start_ = at_;
  place_ = {.line = line_, .column = column_};
}

bool SqlSplitter::IsProcedure() const {
  const std::vector<std::string> words =
      Words(std::string_view(text_).substr(start_, at_ - start_), kWordsBeforeBody);
  return !words.empty() && words[0] == "CREATE" &&
         std::ranges::find(words, "PROCEDURE") != words.end();
}

// How many bytes the next piece has that is no end of a statement.
size_t SqlSplitter::StepCode() {
  const char c = text_[at_];
  if (At("--")) {
    state_ = State::kLineComment;
    return 2;
  }
  if (c == '#' && line_ends_ && !begun_) {  // as cdb2sql has it
    state_ = State::kLineComment;
    return 1;
  }
  if (At("/*")) {
    state_ = State::kBlockComment;
    return 2;
  }
  if (kBlanks.find(c) != std::string_view::npos) return 1;
  Begin();
  if (c == '(' || c == '{') ++open_;
  if (c == ')' || c == '}') --open_;
  if (c == '\'' || c == '"' || c == '`') {
    state_ = State::kQuoted;
    quote_ = c;
  } else if (c == '{' && IsProcedure()) {
    state_ = State::kBody;
  }
  return 1;
}

size_t SqlSplitter::Step() {
  const char c = text_[at_];
  switch (state_) {
    case State::kCode:
      return StepCode();
    case State::kQuoted:
      if (c == '\\') return 2;
      if (c == quote_) state_ = State::kCode;  // a doubled quote begins the next piece
      return 1;
    case State::kLineComment:
      if (c != '\n') return 1;
      state_ = State::kCode;
      return line_ends_ ? 0 : 1;
    case State::kBlockComment:
      if (!At("*/")) return 1;
      state_ = State::kCode;
      return 2;
    case State::kBody:
      return StepBody();
  }
  return 1;
}

// Braces count outside of Lua's strings and comments.
size_t SqlSplitter::StepBody() {
  const char c = text_[at_];
  if (!lua_end_.empty()) {
    const bool quoted = lua_end_ == "'" || lua_end_ == "\"";
    if (quoted && c == '\\') return 2;
    if (!At(lua_end_) && !(quoted && c == '\n')) return 1;
    return std::exchange(lua_end_, {}).size();
  }
  const size_t dashes = At("--") ? 2 : 0;
  const size_t bracket = LongBracket(rest().substr(dashes));
  if (bracket > 0) {
    lua_end_ = "]" + std::string(bracket - 2, '=') + "]";
    return dashes + bracket;
  }
  if (dashes > 0 || c == '\'' || c == '"') {
    lua_end_ = dashes > 0 ? '\n' : c;
    return std::max<size_t>(dashes, 1);
  }
  if (c == '{') ++open_;
  if (c == '}' && --open_ == 0) state_ = State::kCode;
  return 1;
}

bool SqlSplitter::AtLineEnd() const {
  return line_ends_ && begun_ && open_ <= 0 && state_ == State::kCode && At("\n");
}

std::optional<SqlStatement> SqlSplitter::Next() {
  while (at_ < text_.size()) {
    const bool ends = state_ == State::kCode || state_ == State::kBody;
    const size_t end_bytes = ends && At(kBodyEnd)                ? kBodyEnd.size()
                             : state_ == State::kCode && At(";") ? 1
                             : AtLineEnd()                       ? 1
                                                                 : 0;
    if (end_bytes == 0) {
      Advance(Step());
    } else if (begun_) {
      return Take(end_bytes);
    } else {
      Advance(end_bytes);  // an empty statement
    }
  }
  return std::nullopt;
}

std::optional<SqlStatement> SqlSplitter::Finish() {
  if (!begun_) {
    Clear();
    return std::nullopt;
  }
  return Take(0);
}

SqlStatement SqlSplitter::Take(size_t end_bytes) {
  SqlStatement statement = std::exchange(place_, {});
  statement.text = text_.substr(start_, at_ - start_);
  statement.text.erase(statement.text.find_last_not_of(kBlanks) + 1);
  Advance(end_bytes);
  Forget();
  return statement;
}

void SqlSplitter::Clear() {
  Advance(text_.size() - at_);
  Forget();
}

void SqlSplitter::Forget() {
  begun_ = false;
  open_ = 0;
  lua_end_.clear();
  state_ = State::kCode;
}

}  // namespace sluice::cli
