#include "http/rest/stream_session.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "http/rest/stream_answer.h"

namespace sluice::http::rest {
namespace {

using Kind = StreamMessage::Kind;

// Of the rows of one message; one row may have more.
constexpr size_t kMessageBytes = 64 << 10;

}  // namespace

StreamSession::StreamSession(QueryService& service, std::shared_ptr<const Principal> sender,
                             std::shared_ptr<WebSocket::Sender> out)
    : service_(service), sender_(std::move(sender)), out_(std::move(out)) {}

Status StreamSession::Receive(std::string_view text) {
  ASSIGN_OR_RETURN(StreamMessage message, ReadStreamMessage(text));
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return OkStatus();
    if (waiting_.size() >= kMaxWaiting || waiting_bytes_ + message.bytes > kMaxWaitingBytes) {
      return Error(Code::kOverloaded, "stream.too_many_messages",
                   "more than {} messages or {} bytes wait to be answered", kMaxWaiting,
                   kMaxWaitingBytes);
    }
    // It may be waiting for a row that never comes.
    if (message.kind == Kind::kClose && current_ != nullptr && current_id_ == message.id) {
      current_->Cancel();
    }
    waiting_bytes_ += message.bytes;
    waiting_.push_back(std::move(message));
  }
  wake_.notify_one();
  return OkStatus();
}

void StreamSession::End() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (current_ != nullptr) current_->Cancel();
  }
  wake_.notify_one();
}

void StreamSession::Main() {
  while (const std::optional<StreamMessage> message = Pop()) Handle(*message);
  SetCurrent(nullptr, "");
  RollBack();
}

std::optional<StreamMessage> StreamSession::Pop() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
  if (ended_) return std::nullopt;
  StreamMessage message = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= message.bytes;
  return message;
}

void StreamSession::Handle(const StreamMessage& message) {
  const bool ours = current_ != nullptr && current_id_ == message.id;
  if (message.kind == Kind::kClose) return CloseStatement(message);
  if (message.kind == Kind::kNext && ours) return Pull(message.rows);
  if (message.kind == Kind::kNext) {
    return Refuse(message.id, Error(Code::kNotFound, "stream.no_statement",
                                    "no statement with the id {} runs", message.id));
  }
  if (current_ != nullptr) {
    return Refuse(
        message.id,
        Error(Code::kConflict, "stream.busy",
              "the statement with the id {} runs: read it to its end, or close it", current_id_));
  }
  Begin(message);
}

void StreamSession::Begin(const StreamMessage& message) {
  QueryParameters parameters = defaults_;
  const Status read = ReadStreamParameters(message.body, &parameters);
  if (!read.ok()) return Refuse(message.id, read);
  if (const auto set = ReadSetStatement(parameters.statement)) {
    return Set(message, set->first, set->second);
  }
  parameters.txid = txid_;
  auto answer = std::make_unique<StreamAnswer>(message.id, NewUuid(), parameters);
  Result<std::shared_ptr<QueryStatement>> statement = QueryStatement::Admit(
      service_,
      {.sender = sender_, .arrival_ns = service_.clock.MonotonicNs(), .acknowledges = true},
      std::move(parameters), std::move(answer));
  if (!statement) return Refuse(message.id, statement.error());
  SetCurrent(std::move(*statement), message.id);
  Pull(message.rows);
}

void StreamSession::Set(const StreamMessage& message, const std::string& name,
                        const std::string& value) {
  const Status set = ReadSessionParameter(name, value, &defaults_);
  if (!set.ok()) return Refuse(message.id, set);
  Finish(message.id, {});
}

void StreamSession::Pull(uint64_t rows) {
  QueryStatement::Chunk chunk =
      current_->NextChunk({.rows = rows, .bytes = kMessageBytes, .first_row_alone = false});
  if (chunk.last) {
    txid_ = current_->txid();
    SetCurrent(nullptr, "");
  }
  out_->Send(std::move(chunk.text));
}

void StreamSession::CloseStatement(const StreamMessage& message) {
  if (current_ != nullptr && current_id_ == message.id) SetCurrent(nullptr, "");
  out_->Send(R"({"id":)" + message.id + R"(,"closed":true})");
}

// A close that came before its statement ends it, too.
void StreamSession::SetCurrent(std::shared_ptr<QueryStatement> statement, std::string id) {
  {
    const std::lock_guard lock(mutex_);
    std::swap(current_, statement);
    current_id_ = std::move(id);
    const auto closes = [&](const StreamMessage& message) {
      return message.kind == Kind::kClose && message.id == current_id_;
    };
    if (current_ != nullptr && (ended_ || std::ranges::any_of(waiting_, closes))) {
      current_->Cancel();
    }
  }
  statement.reset();  // its run ends here, which may take a moment: not under the mutex
}

void StreamSession::Refuse(const std::string& id, const Status& why) {
  QueryOutcome outcome;
  outcome.errors = {why};
  outcome.ended_early = true;
  Finish(id, outcome);
}

void StreamSession::Finish(const std::string& id, const QueryOutcome& outcome) {
  QueryParameters parameters;
  parameters.metrics = false;
  StreamAnswer answer(id, "", parameters);
  std::string text;
  answer.Open(&text);
  answer.Tail(outcome, &text);
  answer.Close(&text);
  out_->Send(std::move(text));
}

void StreamSession::RollBack() {
  if (txid_.empty()) return;
  const auto plan = service_.engine.Prepare("ROLLBACK", {});
  if (!plan) return;
  const auto run = query::RunTransactionStatement(
      service_.transactions, **plan,
      {.user = std::string(sender_->name()), .txid = txid_, .timeout_ms = 0});
  // One whose time was over has been rolled back already.
  if (!run) log::Info("a stream's transaction had ended", {{"error", run.error().message()}});
}

}  // namespace sluice::http::rest
