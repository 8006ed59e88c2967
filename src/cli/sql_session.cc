#include "cli/sql_session.h"

#include <chrono>
#include <cstdlib>

#include <unistd.h>

#include "cli/sql_table.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

int64_t NumberOf(const json::Value& value) { return value.is_int() ? value.AsInt() : 0; }

std::string Counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// The number that Comdb2's clients know: errors of tables have it behind 19000, a conflict is 2,
// what is wrong with a statement -3.
int Cdb2Code(const Status& error) {
  const auto code = error.fields().find("code");
  const int number = code == error.fields().end() ? 0 : std::atoi(code->second.c_str());
  constexpr int kTables = 19000;
  constexpr int kConflict = 17007;
  if (number >= kTables && number < kTables + 1000) return number - kTables;
  return number == kConflict ? 2 : -3;
}

Status Cdb2Error(const SqlStatement& statement, const Status& error) {
  std::string message = error.message();
  // Comdb2's number says it.
  if (const auto code = error.fields().find("code"); code != error.fields().end()) {
    const std::string number = fmt::format(" [{}]", code->second);
    if (message.ends_with(number)) message.resize(message.size() - number.size());
  }
  Status shown(error.code(), error.id(),
               fmt::format("[{}] failed with rc {} {}", statement.text, Cdb2Code(error), message));
  return shown.With(std::string(kBareField), "true");
}

}  // namespace

SqlSession::SqlSession(Api* api, Output* output, SqlSettings settings,
                       const std::atomic<bool>* interrupted)
    : api_(api),
      output_(output),
      settings_(std::move(settings)),
      interrupted_(interrupted),
      context_id_(fmt::format("sluice-sql-{}-{}", getpid(),
                              std::chrono::system_clock::now().time_since_epoch().count())) {}

std::string SqlSession::BodyOf(const std::string& statement) const {
  json::Value body = json::Value::Object({{"statement", statement}});
  body.Set("client_context_id", context_id_);
  if (!settings_.context.empty()) body.Set("query_context", settings_.context);
  if (!txid_.empty()) body.Set("txid", txid_);
  if (settings_.format == SqlFormat::kCdb2 && FirstWord(statement) != "BEGIN" &&
      FirstWord(statement) != "START") {
    body.Set("row_format", "cdb2");
    body.Set("timezone", settings_.time_zone);
  }
  if (!settings_.args.empty()) body.Set("args", json::Value::Array(settings_.args));
  for (const auto& [name, value] : settings_.named) body.Set("$" + name, value);
  return json::ToText(body);
}

Result<SqlAnswer> SqlSession::Send(const SqlStatement& statement, const std::string& file) {
  const auto response = api_->CallAny({.method = "POST",
                                       .path = "/query/service",
                                       .headers = {{"Content-Type", "application/json"}},
                                       .body = BodyOf(statement.text)});
  if (!response && *interrupted_) {
    CancelInServer();
    return Fail(Code::kCancelled, "query.cancelled",
                "cancelled; what the statement had written by then stays");
  }
  if (!response) return Unexpected(response.error());
  return ReadSqlAnswer(*response, statement, file);
}

// The server may only notice that nobody waits when it has a row to send.
void SqlSession::CancelInServer() {
  const auto active = api_->CallJson({.path = "/admin/active_requests"});
  if (!active) return;  // whoever may not see the list can't cancel either
  for (const json::Value& request : active->items()) {
    if (request["clientContextID"] != json::Value(context_id_)) continue;
    if (!request["requestId"].is_string()) continue;
    static_cast<void>(
        api_->Do({.method = "DELETE",
                  .path = "/admin/active_requests/" + Segment(request["requestId"].AsString())}));
  }
}

Status SqlSession::Run(const SqlStatement& statement, const std::string& file) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const SqlAnswer answer, Send(statement, file));
  const auto elapsed = std::chrono::steady_clock::now() - start;
  FollowTransaction(statement, answer);
  PrintRows(answer);
  for (const std::string& warning : answer.warnings) output_->Note("warning: " + warning);
  if (!answer.errors.empty()) {
    if (settings_.format == SqlFormat::kCdb2) return Cdb2Error(statement, answer.errors[0]);
    for (size_t i = 0; i + 1 < answer.errors.size(); ++i) output_->Problem(answer.errors[i]);
    return answer.errors.back();
  }
  PrintSummary(answer, static_cast<uint64_t>(
                           std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count()));
  return OkStatus();
}

Result<json::Value> SqlSession::Fetch(const std::string& statement) {
  ASSIGN_OR_RETURN(const SqlAnswer answer, Send({.text = statement}, ""));
  if (!answer.errors.empty()) return Unexpected(answer.errors.back());
  return answer.results;
}

void SqlSession::FollowTransaction(const SqlStatement& statement, const SqlAnswer& answer) {
  const std::string word = FirstWord(statement.text);
  const json::Value& txid = answer.results[0]["txid"];
  if ((word == "BEGIN" || word == "START") && txid.is_string()) txid_ = txid.AsString();
  // Whatever came of it, a transaction that is to end has ended.
  const bool ends = word == "COMMIT" || word == "ROLLBACK";
  if (ends && SecondWord(statement.text) != "TO") txid_.clear();
  for (const Status& error : answer.errors) {
    const auto code = error.fields().find("code");
    constexpr std::string_view kTransactionNotFound = "17010";
    if (code != error.fields().end() && code->second == kTransactionNotFound) txid_.clear();
  }
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
      for (const json::Value& row : answer.results.items()) output_->Line(json::ToText(row));
      break;
    case SqlFormat::kCdb2:
      for (const json::Value& row : answer.results.items()) {
        if (row.is_string()) output_->Line(row.AsString());  // others are the server's own
      }
      break;
  }
  output_->Flush();
}

void SqlSession::PrintSummary(const SqlAnswer& answer, uint64_t elapsed_us) {
  if (settings_.format == SqlFormat::kCdb2) return;
  const int64_t mutations = NumberOf(answer.metrics["mutationCount"]);
  if (mutations > 0) output_->Note(Counted(mutations, "document") + " changed");
  if (!settings_.timing) return;
  const json::Value& on_server = answer.metrics["elapsedTime"];
  output_->Note(fmt::format(
      "{} in {:.3f} ms{}", Counted(static_cast<int64_t>(answer.results.size()), "row"),
      static_cast<double>(elapsed_us) / 1000,
      on_server.is_string() ? fmt::format(", {} in the server", on_server.AsString()) : ""));
}

void SqlSession::End() {
  if (txid_.empty()) return;
  const auto rolled_back = Fetch("ROLLBACK");
  txid_.clear();
  output_->Note(rolled_back ? "the open transaction was rolled back"
                            : "the open transaction was left to its time limit");
}

}  // namespace sluice::cli
