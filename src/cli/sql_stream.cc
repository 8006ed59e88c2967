#include "cli/sql_stream.h"

#include <utility>

#include "json/parse.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

using json::Value;

Status Cancelled() {
  return Error(Code::kCancelled, "query.cancelled",
               "cancelled; the statement's earlier writes stay");
}

bool IsInterrupt(const Status& status) { return status.id() == "client.interrupted"; }

bool IsTransactionLost(const Status& error) {
  constexpr std::string_view kTransactionNotFound = "17010";
  const auto code = error.fields().find("code");
  return code != error.fields().end() && code->second == kTransactionNotFound;
}

}  // namespace

void SqlStream::SetAtStart(std::string statement) {
  if (at_start_ == statement) return;
  at_start_ = std::move(statement);
  if (!in_transaction_) socket_.reset();
}

Status SqlStream::Connect() {
  if (socket_ != nullptr && socket_->Alive()) return OkStatus();
  const bool lost = std::exchange(in_transaction_, false);
  socket_.reset();
  if (lost) {
    return Error(Code::kUnavailable, "client.broken",
                 "the connection was lost, and with it the open transaction");
  }
  ASSIGN_OR_RETURN(socket_, api_->OpenWebSocket("/query/stream"));
  std::vector<std::string> first = sets_;
  if (!at_start_.empty()) first.insert(first.begin(), at_start_);
  for (const std::string& set : first) {
    const Call call{.statement = {.text = set}, .file = "", .parameters = Value::EmptyObject()};
    Value message = Value::Object({{"id", ++id_}, {"statement", set}});
    ASSIGN_OR_RETURN(const SqlAnswer answer, Pull(call, std::move(message), nullptr));
    if (!answer.errors.empty()) return answer.errors[0];
  }
  return OkStatus();
}

Result<Value> SqlStream::Receive(const client::WebSocket::Patience& patience) {
  Result<std::string> text = socket_->Read(patience);
  if (!text) {
    const Status error = text.error();
    if (error.id() != "client.timeout" && !IsInterrupt(error)) {
      socket_.reset();
      in_transaction_ = false;
    }
    return Unexpected(error);
  }
  Result<Value> message = json::Parse(*text, {.max_bytes = text->size()});
  if (message && (*message)["id"] == Value(id_)) return message;
  socket_.reset();
  return Fail(Code::kInternal, "cli.bad_answer", "the server's message is not about the statement");
}

Result<Value> SqlStream::Ask(const Value& message, uint64_t timeout_ms) {
  RETURN_IF_ERROR(socket_->Send(json::ToText(message)));
  return Receive({.interrupted = interrupted_, .timeout_ms = timeout_ms});
}

Result<SqlAnswer> SqlStream::Run(const Call& call, const Sink& sink) {
  RETURN_IF_ERROR(Connect());
  Value message = call.parameters;
  message.Set("id", ++id_);
  message.Set("statement", call.statement.text);
  message.Set("next", static_cast<int64_t>(call.rows));
  Result<SqlAnswer> answer = Pull(call, std::move(message), sink);
  if (answer) {
    Follow(call.statement, *answer);
    return answer;
  }
  return GiveUp(answer.error());
}

Result<SqlAnswer> SqlStream::GiveUp(const Status& error) {
  if (socket_ != nullptr) RETURN_IF_ERROR(CloseStatement());
  return Unexpected(IsInterrupt(error) ? Cancelled() : error);
}

Result<SqlAnswer> SqlStream::RunAhead(const Call& call, const AheadSink& sink) {
  RETURN_IF_ERROR(Connect());
  Value message = call.parameters;
  message.Set("id", ++id_);
  message.Set("statement", call.statement.text);
  message.Set("ahead", static_cast<int64_t>(call.rows));
  RETURN_IF_ERROR(socket_->Send(json::ToText(message)));
  Result<SqlAnswer> answer = TakeAhead(call, sink);
  return answer ? answer : GiveUp(answer.error());
}

Result<SqlAnswer> SqlStream::TakeAhead(const Call& call, const AheadSink& sink) {
  while (true) {
    ASSIGN_OR_RETURN(const Value answer,
                     Receive({.interrupted = interrupted_, .timeout_ms = call.timeout_ms}));
    Taken more;
    if (answer["rows"].size() > 0) {
      ASSIGN_OR_RETURN(more, sink(answer["rows"]));
    }
    if (const Value& done = answer["done"]; !done.is_missing()) {
      return ReadSqlAnswer(done, call.statement, call.file);
    }
    if (more.rows > 0) {
      const Value next = Value::Object({{"id", id_}, {"next", static_cast<int64_t>(more.rows)}});
      RETURN_IF_ERROR(socket_->Send(json::ToText(next)));
    }
    if (!more.enough) continue;
    RETURN_IF_ERROR(CloseStatement());
    return SqlAnswer{};
  }
}

Result<SqlAnswer> SqlStream::Pull(const Call& call, Value message, const Sink& sink) {
  Value signature;
  while (true) {
    ASSIGN_OR_RETURN(const Value answer, Ask(message, call.timeout_ms));
    if (!answer["signature"].is_missing()) signature = answer["signature"];
    if (answer["rows"].size() > 0 && sink) RETURN_IF_ERROR(sink(answer["rows"]));
    if (!answer["done"].is_missing()) {
      SqlAnswer read = ReadSqlAnswer(answer["done"], call.statement, call.file);
      read.signature = std::move(signature);
      return read;
    }
    message = Value::Object({{"id", id_}, {"next", static_cast<int64_t>(call.rows)}});
  }
}

Status SqlStream::CloseStatement() {
  RETURN_IF_ERROR(socket_->Send(json::ToText(Value::Object({{"id", id_}, {"close", true}}))));
  while (true) {
    ASSIGN_OR_RETURN(const Value answer, Receive({}));
    if (!answer["closed"].is_missing()) return OkStatus();
  }
}

void SqlStream::Follow(const SqlStatement& statement, const SqlAnswer& answer) {
  const std::string word = FirstWord(statement.text);
  if (word == "SET" && SecondWord(statement.text) != "TRANSACTION" && answer.errors.empty()) {
    sets_.push_back(statement.text);
  }
  if ((word == "BEGIN" || word == "START") && answer.errors.empty()) in_transaction_ = true;
  // COMMIT and ROLLBACK end the transaction, even if they fail.
  const bool ends = word == "COMMIT" || word == "ROLLBACK";
  if (ends && SecondWord(statement.text) != "TO") in_transaction_ = false;
  for (const Status& error : answer.errors) {
    if (IsTransactionLost(error)) in_transaction_ = false;
  }
}

}  // namespace sluice::cli
