// The shell of `sluice sql`: takes lines, runs the statements that end in them and the shell's own
// commands, which begin with a backslash.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/api.h"
#include "cli/output.h"
#include "cli/sql_session.h"
#include "cli/sql_splitter.h"

namespace sluice::cli {

// A source of lines: a file, standard input, the command line.
struct SqlSource {
  std::string file;  // for errors; empty when it has no name
  SqlSplitter splitter;
};

// One thread.
class SqlShell {
 public:
  enum class OnError : uint8_t { kStop, kContinue };

  SqlShell(Api* api, Output* output, SqlSession* session, OnError on_error)
      : api_(api), output_(output), session_(session), on_error_(on_error) {}

  // With kStop, the first error; with kContinue errors are shown and counted.
  Status Take(std::string_view line, SqlSource* source);
  Status Finish(SqlSource* source);
  Status RunAll(std::istream& in, const std::string& file);

  bool quit() const { return quit_; }
  uint64_t run() const { return run_; }
  uint64_t failed() const { return failed_; }
  std::string Prompt(const SqlSource& source) const;
  // The completions of the last word before the cursor, for LineEditor.
  std::vector<std::string> Complete(std::string_view before_cursor);

 private:
  using Command = Status (SqlShell::*)(const std::string& argument);
  Status RunCommand(std::string_view line);
  Status RunStatement(const SqlStatement& statement, const std::string& file);
  Status Judge(const Status& status);

  Status Describe(const std::string& argument);
  Status DescribeKeyspace(const std::string& name);
  Status SetContext(const std::string& argument);
  Status SetFormat(const std::string& argument);
  Status ToggleTiming(const std::string& argument);
  Status Include(const std::string& argument);
  Status Help(const std::string& argument);
  Status SyntaxHelp(const std::string& argument);
  Status Quit(const std::string& argument);

  Result<json::Value> Keyspaces();  // rows {keyspace, indexes, ...}
  const std::vector<std::string>& KeyspaceNames();

  Api* const api_;
  Output* const output_;
  SqlSession* const session_;
  const OnError on_error_;
  int depth_ = 0;  // of \i
  bool quit_ = false;
  uint64_t run_ = 0;
  uint64_t failed_ = 0;
  bool names_known_ = false;
  std::vector<std::string> names_;
};

}  // namespace sluice::cli
