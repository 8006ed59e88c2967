// sql [STATEMENTS]: a shell at a terminal; else statements of the command line, a file or standard
// input.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/line_editor.h"
#include "cli/sql_complete.h"
#include "cli/sql_interrupt.h"
#include "cli/sql_shell.h"
#include "json/parse.h"

namespace sluice::cli {
namespace {

// The widest cell of a table on a terminal; \o json shows everything.
constexpr size_t kWidestCell = 60;

struct SqlOptions {
  std::string statements;
  std::string file;
  std::string context;
  std::vector<std::string> args;
  std::vector<std::string> params;
  std::string format;
  std::string time_zone;
  bool lines = false;
  bool timing = false;
  bool go_on = false;
};

std::string HistoryFile() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0') {
    return std::string(state) + "/sluice/sql_history";
  }
  const char* const home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.local/state/sluice/sql_history";
}

Result<json::Value> ParseArgument(std::string_view option, std::string_view text) {
  auto value = json::Parse(text);
  if (value) return value;
  return Unexpected(
      UsageError("{}: expected JSON (a string has quotes: '\"a\"'), found '{}'", option, text));
}

SqlFormat FormatOf(const SqlOptions& options, const Context& context) {
  if (options.lines || options.format == "lines") return SqlFormat::kLines;
  if (options.format == "cdb2") return SqlFormat::kCdb2;
  if (options.format == "table") return SqlFormat::kTable;
  const bool json = options.format == "json" || context.output.json();
  return json ? SqlFormat::kJson : SqlFormat::kTable;
}

// As cdb2sql finds it.
std::string TimeZoneOf(const SqlOptions& options) {
  if (!options.time_zone.empty()) return options.time_zone;
  for (const char* name : {"COMDB2TZ", "TZ"}) {
    const char* const zone = std::getenv(name);
    if (zone != nullptr && *zone != '\0' && *zone != ':') return zone;
  }
  return "UTC";
}

Result<SqlSettings> SettingsOf(const SqlOptions& options, const Context& context) {
  SqlSettings settings;
  settings.format = FormatOf(options, context);
  settings.time_zone = TimeZoneOf(options);
  settings.timing = options.timing;
  if (isatty(STDOUT_FILENO)) settings.max_cell_width = kWidestCell;
  RETURN_IF_ERROR(CheckSqlContext(options.context));
  settings.context = options.context;
  for (const std::string& text : options.args) {
    ASSIGN_OR_RETURN(json::Value value, ParseArgument("--arg", text));
    settings.args.push_back(std::move(value));
  }
  for (const std::string& text : options.params) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Unexpected(UsageError("--param: expected NAME=JSON, found '{}'", text));
    }
    ASSIGN_OR_RETURN(json::Value value, ParseArgument("--param", text.substr(equals + 1)));
    settings.named[text.substr(text.starts_with('$') ? 1 : 0,
                               equals - (text.starts_with('$') ? 1 : 0))] = std::move(value);
  }
  return settings;
}

Status RunScript(const SqlOptions& options, Context& context, SqlShell* shell) {
  if (!options.statements.empty() && options.statements != "-") {
    std::istringstream in(options.statements);
    return shell->RunAll(in, "");
  }
  if (options.file.empty() || options.file == "-") return shell->RunAll(context.in, "");
  std::ifstream in(options.file, std::ios::binary);
  if (!in) return UsageError("can't read the file '{}'", options.file);
  return shell->RunAll(in, options.file);
}

Status RunTerminal(Context& context, Api* api, SqlShell* shell) {
  const SqlInterrupt interrupt(api);
  LineEditor editor(
      HistoryFile(), [&](std::string_view text) { return shell->Complete(text); },
      &SqlInterrupt::interrupted());
  context.output.Note("\\? lists the shell's commands, \\h shows syntax, \\q leaves");
  SqlSource source;
  std::string line;
  while (!shell->quit()) {
    SqlInterrupt::Reset();
    const LineEditor::Outcome outcome = editor.Read(shell->Prompt(source), &line);
    if (outcome == LineEditor::Outcome::kEnd) {
      context.output.Note("");
      break;
    }
    if (outcome == LineEditor::Outcome::kInterrupted) {
      source.splitter.Clear();
    } else {
      RETURN_IF_ERROR(shell->Take(line, &source));
      context.output.Flush();
    }
  }
  return OkStatus();
}

Status RunSql(const SqlOptions& options, Context& context) {
  if (!options.statements.empty() && !options.file.empty()) {
    return UsageError("give statements or --file, not both");
  }
  ASSIGN_OR_RETURN(SqlSettings settings, SettingsOf(options, context));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  const bool typed = options.statements.empty() && options.file.empty() && isatty(STDIN_FILENO);
  SqlSession session(api, &context.output, std::move(settings), &SqlInterrupt::interrupted());
  const bool goes_on = typed || options.go_on || session.settings().format == SqlFormat::kCdb2;
  SqlShell shell(api, &context.output, &session,
                 goes_on ? SqlShell::OnError::kContinue : SqlShell::OnError::kStop);
  const Status status =
      typed ? RunTerminal(context, api, &shell) : RunScript(options, context, &shell);
  session.End();
  if (!status.ok() || typed || shell.failed() == 0) return status;
  if (session.settings().format == SqlFormat::kCdb2) {
    // cdb2sql prints no summary; the exit code is enough.
    return Error(Code::kInvalidArgument, kSqlIncompleteId, "")
        .With(std::string(kBareField), "true");
  }
  return Error(Code::kInvalidArgument, kSqlIncompleteId, "{} of {} statements failed",
               shell.failed(), shell.run());
}

}  // namespace

void AddSqlCommand(Program* program) {
  const auto options = std::make_shared<SqlOptions>();
  CLI::App* sql =
      program->AddCommand(&program->app(), "sql", "Run SQL++ statements, or start a shell for them",
                          [options](Context& context) { return RunSql(*options, context); });
  sql->add_option("statements", options->statements,
                  "Statements, separated by ; (none: a shell; - or a pipe: standard input)");
  sql->add_option("-f,--file", options->file, "Run the statements of this file")->type_name("FILE");
  sql->add_option("--arg", options->args, "JSON for the next of $1, $2, ...; may be repeated")
      ->type_name("JSON")
      ->allow_extra_args(false);
  sql->add_option("--param", options->params, "JSON for $NAME; may be repeated")
      ->type_name("NAME=JSON")
      ->allow_extra_args(false);
  sql->add_option("--context", options->context, "Scope of short keyspace names")
      ->type_name("BUCKET.SCOPE");
  sql->add_flag("--lines", options->lines, "One JSON value per line and row");
  sql->add_option("--format", options->format, "Format of rows; cdb2 prints them as cdb2sql does")
      ->check(CLI::IsMember({"table", "json", "lines", "cdb2"}));
  sql->add_option("--timezone", options->time_zone,
                  "Time zone of datetimes in the format cdb2 (default: COMDB2TZ, TZ or UTC)")
      ->type_name("ZONE");
  sql->add_flag("--timing", options->timing, "Show times on standard error");
  sql->add_flag("--continue", options->go_on, "Go on after an error");
}

}  // namespace sluice::cli
