#include "cli/sql_session.h"

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "cli/sql_table.h"
#include "cli/wait_note.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

int64_t IntegerOf(const json::Value& value) { return value.is_int() ? value.AsInt() : 0; }

std::string Counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// A description of a long statement for a note; empty for statements with rows, or without changes.
std::string SlowWork(const std::string& statement) {
  static constexpr std::pair<std::string_view, std::string_view> kWork[] = {
      {"UPDATE", "updating"}, {"DELETE", "deleting"},        {"INSERT", "writing"},
      {"UPSERT", "writing"},  {"MERGE", "writing"},          {"CREATE", "creating"},
      {"ALTER", "altering"},  {"BUILD", "building indexes"}, {"DROP", "dropping"},
  };
  std::string word = statement.substr(0, statement.find_first_of(" \t\r\n("));
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const auto& [first, work] : kWork) {
    if (word == first) return std::string(work);
  }
  return "";
}

// The line that cdb2sql prints after a statement that writes; empty for others.
std::string RowsChanged(const std::string& statement, int64_t count) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"INSERT", "inserted"},
                                                                      {"REPLACE", "inserted"},
                                                                      {"UPSERT", "inserted"},
                                                                      {"UPDATE", "updated"},
                                                                      {"DELETE", "deleted"}};
  const std::string word = FirstWord(statement);
  for (const auto& [first, done] : kWords) {
    if (word == first) return fmt::format("(rows {}={})", done, count);
  }
  return "";
}

// The number that Comdb2's clients know: errors of tables have it plus 19000, a conflict is 2, an
// error of a procedure is its own number, an error in a statement is -3.
int Cdb2Code(const Status& error) {
  const auto returned = error.fields().find("returned");
  if (returned != error.fields().end()) return std::atoi(returned->second.c_str());
  const auto code = error.fields().find("code");
  const int number = code == error.fields().end() ? 0 : std::atoi(code->second.c_str());
  constexpr int kTables = 19000;
  constexpr int kConflict = 17007;
  constexpr int kCheck = 19406;  // of Comdb2's CHECK the client has another number than the server
  constexpr int kCdb2Check = 403;
  if (number == kCheck) return kCdb2Check;
  if (number >= kTables && number < kTables + 1000) return number - kTables;
  return number == kConflict ? 2 : -3;
}

Status Cdb2Error(const SqlStatement& statement, const Status& error) {
  // An error text of a procedure is shown unchanged.
  if (const auto said = error.fields().find("said"); said != error.fields().end()) {
    return Status(error.code(), error.id(),
                  fmt::format("[{}] failed with rc {} {}", statement.text, Cdb2Code(error),
                              said->second))
        .With(std::string(kBareField), "true");
  }
  std::string message = error.message();
  // Comdb2's number is enough.
  if (const auto code = error.fields().find("code"); code != error.fields().end()) {
    const std::string number = fmt::format(" [{}]", code->second);
    if (message.ends_with(number)) message.resize(message.size() - number.size());
  }
  Status shown(error.code(), error.id(),
               fmt::format("[{}] failed with rc {} {}", statement.text, Cdb2Code(error), message));
  return shown.With(std::string(kBareField), "true");
}

// The name in EXEC[UTE] PROCEDURE name(...); empty when it is another statement.
std::string ExecutedProcedure(const std::string& statement) {
  const std::string word = FirstWord(statement);
  if ((word != "EXEC" && word != "EXECUTE") || SecondWord(statement) != "PROCEDURE") return "";
  constexpr std::string_view kBlanks = " \t\r\n";
  size_t at = 0;
  for (int words = 0; words < 2; ++words) {
    at = statement.find_first_not_of(kBlanks, statement.find_first_of(kBlanks, at));
    if (at == std::string::npos) return "";
  }
  std::string name = statement.substr(at, statement.find_first_of("( \t\r\n", at) - at);
  std::erase(name, '`');
  return name;
}

}  // namespace

SqlSession::SqlSession(Api* api, Output* output, SqlSettings settings,
                       const std::atomic<bool>* interrupted)
    : output_(output), settings_(std::move(settings)), stream_(api, interrupted) {}

json::Value SqlSession::ParametersOf(const std::string& statement) const {
  json::Value parameters = json::Value::EmptyObject();
  if (!settings_.context.empty()) parameters.Set("query_context", settings_.context);
  const std::string word = FirstWord(statement);
  if (settings_.format == SqlFormat::kCdb2 && word != "BEGIN" && word != "START") {
    parameters.Set("row_format", "cdb2");
  }
  if (!settings_.args.empty()) parameters.Set("args", json::Value::Array(settings_.args));
  for (const auto& [name, value] : settings_.named) parameters.Set("$" + name, value);
  return parameters;
}

bool SqlSession::PrintsLines(const std::string& statement) {
  if (settings_.format == SqlFormat::kCdb2 || settings_.format == SqlFormat::kLines) return true;
  const std::string name = ExecutedProcedure(statement);
  if (name.empty()) return false;
  const SqlStream::Call call{
      .statement = {.text = "SELECT RAW 1 FROM comdb2_triggers WHERE type = 'consumer' AND "
                            "LOWER(name) = LOWER($1) LIMIT 1"},
      .file = "",
      .parameters = json::Value::Object({{"args", json::Value::Array({name})}})};
  bool found = false;
  const auto answer = stream_.Run(call, [&](const json::Value&) {
    found = true;
    return OkStatus();
  });
  return found;
}

Status SqlSession::PrintLines(const json::Value& rows) {
  for (const json::Value& row : rows.items()) {
    if (settings_.format != SqlFormat::kCdb2) {
      output_->Line(json::ToText(row));
    } else if (row.is_string()) {
      output_->Line(row.AsString());  // others are the server's own
    }
  }
  output_->Flush();
  if (!output_->DataFailed()) return OkStatus();
  return Error(Code::kIo, "cli.output", "can't write to standard output");
}

Status SqlSession::Run(const SqlStatement& statement, const std::string& file) {
  const auto start = std::chrono::steady_clock::now();
  if (settings_.format == SqlFormat::kCdb2) {
    stream_.SetAtStart(fmt::format("SET timezone '{}'", settings_.time_zone));
  }
  const bool lines = PrintsLines(statement.text);
  const bool in_transaction = stream_.in_transaction();
  const SqlStream::Call call{
      .statement = statement, .file = file, .parameters = ParametersOf(statement.text)};
  json::Value results = json::Value::EmptyArray();
  uint64_t count = 0;
  const auto take = [&](const json::Value& rows) -> Status {
    count += rows.size();
    if (lines) {
      RETURN_IF_ERROR(PrintLines(rows));
    } else {
      for (const json::Value& row : rows.items()) results.Append(row);
    }
    return OkStatus();
  };
  std::optional<WaitNote> note;
  if (const std::string work = lines ? "" : SlowWork(statement.text); !work.empty()) {
    note.emplace(output_, work);
  }
  Result<SqlAnswer> ended = stream_.Run(call, take);
  note.reset();
  if (!ended) return ended.error();
  SqlAnswer answer = std::move(*ended);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  answer.results = std::move(results);
  if (!lines) PrintRows(answer);
  for (const std::string& warning : answer.warnings) output_->Note("warning: " + warning);
  if (!answer.errors.empty()) {
    if (settings_.format == SqlFormat::kCdb2) return Cdb2Error(statement, answer.errors[0]);
    for (size_t i = 0; i + 1 < answer.errors.size(); ++i) output_->Problem(answer.errors[i]);
    return answer.errors.back();
  }
  if (settings_.format == SqlFormat::kCdb2 && !in_transaction && count == 0) {
    PrintRowsChanged(statement.text, answer);
  }
  PrintSummary(answer, count,
               static_cast<uint64_t>(
                   std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count()));
  return OkStatus();
}

Result<json::Value> SqlSession::Fetch(const std::string& statement) {
  json::Value results = json::Value::EmptyArray();
  const SqlStream::Call call{
      .statement = {.text = statement}, .file = "", .parameters = ParametersOf(statement)};
  ASSIGN_OR_RETURN(const SqlAnswer answer, stream_.Run(call, [&](const json::Value& rows) {
    for (const json::Value& row : rows.items()) results.Append(row);
    return OkStatus();
  }));
  if (!answer.errors.empty()) return Unexpected(answer.errors.back());
  return results;
}

void SqlSession::PrintRows(const SqlAnswer& answer) {
  const bool has_columns = answer.signature.is_object() && answer.signature.size() > 0;
  switch (settings_.format) {
    case SqlFormat::kTable:
      if (answer.results.size() == 0 && (!has_columns || !answer.errors.empty())) return;
      // EXPLAIN: the plan is a tree already.
      if (const json::Value& tree = answer.results[0]["tree"];
          answer.signature == json::Value("json") && tree.is_string()) {
        output_->Line(tree.AsString());
        break;
      }
      output_->Raw(
          SqlTable(answer.results, answer.signature, {.max_cell_width = settings_.max_cell_width}));
      break;
    case SqlFormat::kJson:
      if (answer.results.size() == 0 && !answer.errors.empty()) return;
      output_->Line(json::ToText(answer.results, {.indent = 2}));
      break;
    case SqlFormat::kLines:
    case SqlFormat::kCdb2:
      break;  // printed as they came
  }
  output_->Flush();
}

void SqlSession::PrintRowsChanged(const std::string& statement, const SqlAnswer& answer) {
  const std::string line = RowsChanged(statement, IntegerOf(answer.metrics["mutationCount"]));
  if (line.empty()) return;
  output_->Line(line);
  output_->Flush();
}

void SqlSession::PrintSummary(const SqlAnswer& answer, uint64_t rows, uint64_t elapsed_us) {
  if (settings_.format == SqlFormat::kCdb2) return;
  const int64_t mutations = IntegerOf(answer.metrics["mutationCount"]);
  if (mutations > 0) output_->Note(Counted(mutations, "document") + " changed");
  if (!settings_.timing) return;
  const json::Value& on_server = answer.metrics["elapsedTime"];
  output_->Note(fmt::format(
      "{} in {:.3f} ms{}", Counted(static_cast<int64_t>(rows), "row"),
      static_cast<double>(elapsed_us) / 1000,
      on_server.is_string() ? fmt::format(", {} in the server", on_server.AsString()) : ""));
}

void SqlSession::End() {
  if (!stream_.in_transaction()) return;
  const auto rolled_back = Fetch("ROLLBACK");
  output_->Note(rolled_back ? "the open transaction was rolled back"
                            : "the open transaction is rolled back with its connection");
}

}  // namespace sluice::cli
