// Cuts typed text or a file into statements.
//
// `;` ends a statement, unless it is in a string, a name in back quotes or a comment. `$$` ends one
// too. A stored procedure's body is not SQL: from the `{` of CREATE PROCEDURE to the `}` that
// closes it, as Lua counts, only `$$` does:
//
//   CREATE PROCEDURE audit {
//     local function main(event) db:emit(event); end
//   }$$
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::cli {

// Without blanks and comments around it and without its end. `line` and `column` (in characters)
// are those of its first character, from 1.
struct SqlStatement {
  std::string text;
  uint32_t line = 1;
  uint32_t column = 1;
};

// One thread.
class SqlSplitter {
 public:
  // As in cdb2sql: the end of a line ends a statement, too, unless parentheses are open.
  void EndAtLines(bool ends) { line_ends_ = ends; }
  // Adds whole lines, with their line ends (the last may lack it).
  void Feed(std::string_view lines);
  // The next statement that has an end.
  std::optional<SqlStatement> Next();
  // The last statement, which has no end mark; call it after Next returned no more.
  std::optional<SqlStatement> Finish();
  // Drops the unfinished statement.
  void Clear();
  // Whether the beginning of a statement or of a comment waits for its end.
  bool waiting() const { return begun_ || state_ != State::kCode; }

 private:
  enum class State : uint8_t { kCode, kQuoted, kLineComment, kBlockComment, kBody };

  bool AtLineEnd() const;
  bool At(std::string_view token) const { return rest().starts_with(token); }
  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  void Advance(size_t bytes);
  void Begin();
  size_t StepCode();
  size_t StepBody();
  size_t Step();
  bool IsProcedure() const;
  SqlStatement Take(size_t end_bytes);
  void Forget();

  std::string text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  uint32_t column_ = 1;
  State state_ = State::kCode;
  char quote_ = '\0';
  bool line_ends_ = false;
  int open_ = 0;         // parentheses and braces
  std::string lua_end_;  // of the string or comment in a body that is being read
  // The statement that is being read.
  bool begun_ = false;
  size_t start_ = 0;
  SqlStatement place_;
};

// The first word of a statement in upper case, and the second; empty if it has none.
std::string FirstWord(std::string_view statement);
std::string SecondWord(std::string_view statement);

}  // namespace sluice::cli
