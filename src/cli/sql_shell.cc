#include "cli/sql_shell.h"

#include <algorithm>
#include <fstream>

#include "cli/program.h"
#include "cli/sql_complete.h"
#include "cli/sql_help.h"
#include "cli/sql_interrupt.h"

namespace sluice::cli {
namespace {

constexpr int kDeepestInclude = 8;

std::string Trimmed(std::string_view text) {
  const size_t from = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const size_t end = text.find_last_not_of(" \t\r\n;") + 1;
  return std::string(text.substr(from, end > from ? end - from : 0));
}

bool ChangesKeyspaces(const SqlStatement& statement) {
  const std::string word = FirstWord(statement.text);
  return word == "CREATE" || word == "DROP";
}

}  // namespace

Status SqlShell::Judge(const Status& status) {
  if (status.ok()) return status;
  ++failed_;
  if (on_error_ == OnError::kStop) return status;
  output_->Problem(status);
  return OkStatus();
}

Status SqlShell::RunStatement(const SqlStatement& statement, const std::string& file) {
  ++run_;
  SqlInterrupt::Reset();
  if (ChangesKeyspaces(statement)) names_known_ = false;
  return Judge(session_->Run(statement, file));
}

Status SqlShell::Take(std::string_view line, SqlSource* source) {
  if (line.starts_with('\\') && !source->splitter.waiting()) {
    source->splitter.Feed("\n");  // it is a line, too
    static_cast<void>(source->splitter.Next());
    ++run_;
    SqlInterrupt::Reset();
    return Judge(RunCommand(line));
  }
  source->splitter.Feed(std::string(line) + "\n");
  while (const auto statement = source->splitter.Next()) {
    RETURN_IF_ERROR(RunStatement(*statement, source->file));
    if (on_error_ == OnError::kContinue && SqlInterrupt::interrupted()) source->splitter.Clear();
  }
  return OkStatus();
}

Status SqlShell::Finish(SqlSource* source) {
  const auto statement = source->splitter.Finish();
  return statement ? RunStatement(*statement, source->file) : OkStatus();
}

Status SqlShell::RunAll(std::istream& in, const std::string& file) {
  SqlSource source{.file = file};
  source.splitter.EndAtLines(session_->settings().format == SqlFormat::kCdb2);
  for (std::string line; !quit_ && std::getline(in, line);) {
    RETURN_IF_ERROR(Take(line, &source));
  }
  return quit_ ? OkStatus() : Finish(&source);
}

std::string SqlShell::Prompt(const SqlSource& source) const {
  if (source.splitter.waiting()) return "     -> ";
  const std::string& context = session_->settings().context;
  return (context.empty() ? "sluice" : context) +
         (session_->in_transaction() ? " (transaction)> " : "> ");
}

Status SqlShell::RunCommand(std::string_view line) {
  struct Entry {
    std::string_view name;
    Command command;
  };
  static constexpr Entry kCommands[] = {
      {"\\d", &SqlShell::Describe},  {"\\c", &SqlShell::SetContext},
      {"\\o", &SqlShell::SetFormat}, {"\\timing", &SqlShell::ToggleTiming},
      {"\\i", &SqlShell::Include},   {"\\h", &SqlShell::SyntaxHelp},
      {"\\q", &SqlShell::Quit},      {"\\?", &SqlShell::Help},
  };
  const std::string name = Trimmed(line.substr(0, line.find(' ')));
  const std::string argument = Trimmed(line.substr(std::min(line.find(' '), line.size())));
  for (const Entry& entry : kCommands) {
    if (entry.name == name) return (this->*entry.command)(argument);
  }
  return UsageError("there is no command {}: \\? lists them", name);
}

Status SqlShell::Quit(const std::string&) {
  quit_ = true;
  return OkStatus();
}

Status SqlShell::Help(const std::string&) {
  output_->Raw(SqlCommandHelp());
  return OkStatus();
}

Status SqlShell::SyntaxHelp(const std::string& argument) {
  const std::string help = SqlSyntaxHelp(argument);
  if (help.empty()) return UsageError("no statement begins with '{}': \\h lists them", argument);
  output_->Raw(help);
  return OkStatus();
}

Status SqlShell::SetContext(const std::string& argument) {
  RETURN_IF_ERROR(CheckSqlContext(argument));
  session_->settings().context = argument;
  return OkStatus();
}

Status SqlShell::SetFormat(const std::string& argument) {
  SqlFormat& format = session_->settings().format;
  if (argument == "table") {
    format = SqlFormat::kTable;
  } else if (argument == "json") {
    format = SqlFormat::kJson;
  } else if (argument == "lines") {
    format = SqlFormat::kLines;
  } else if (argument == "cdb2") {
    format = SqlFormat::kCdb2;
  } else {
    return UsageError("\\o: expected table, json, lines or cdb2, found '{}'", argument);
  }
  return OkStatus();
}

Status SqlShell::ToggleTiming(const std::string&) {
  bool& timing = session_->settings().timing;
  timing = !timing;
  output_->Note(timing ? "times are shown" : "times are not shown");
  return OkStatus();
}

Status SqlShell::Include(const std::string& argument) {
  if (depth_ == kDeepestInclude) {
    return UsageError("\\i {}: files include each other more than {} deep", argument,
                      kDeepestInclude);
  }
  std::ifstream file(argument, std::ios::binary);
  if (!file) return UsageError("\\i: can't read the file '{}'", argument);
  ++depth_;
  const Status status = RunAll(file, argument);
  --depth_;
  return status;
}

}  // namespace sluice::cli
