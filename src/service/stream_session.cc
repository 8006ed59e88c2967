#include "service/stream_session.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "service/stream_answer.h"

namespace sluice::service {
namespace {

using Kind = StreamMessage::Kind;

// Of the rows of one message; one row may have more.
constexpr size_t kMessageBytes = 64 << 10;
// Of messages that were sent ahead and are not acknowledged; there may be one more.
constexpr size_t kMaxAheadBytes = 16 << 20;

}  // namespace

StreamSession::StreamSession(QueryService& service, std::shared_ptr<const auth::Principal> who,
                             std::shared_ptr<StreamOutlet> out)
    : service_(service), who_(std::move(who)), out_(std::move(out)) {}

Status StreamSession::Receive(std::string_view text) {
  ASSIGN_OR_RETURN(StreamMessage message, ReadStreamMessage(text));
  ASSIGN_OR_RETURN(const bool done, Acknowledge(message));
  if (done) return OkStatus();
  {
    const MutexLock lock(mutex_);
    if (ended_) return OkStatus();
    if (waiting_.size() >= kMaxWaiting || waiting_bytes_ + message.bytes > kMaxWaitingBytes) {
      return Error(Code::kOverloaded, "stream.too_many_messages",
                   "more than {} messages or {} bytes wait to be answered", kMaxWaiting,
                   kMaxWaitingBytes);
    }
    // It may be waiting for a row that never comes.
    if (message.kind == Kind::kClose && running_ != nullptr && running_id_ == message.id) {
      running_->Cancel();
    }
    waiting_bytes_ += message.bytes;
    waiting_.push_back(std::move(message));
  }
  wake_.NotifyOne();
  return OkStatus();
}

void StreamSession::End() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    if (running_ != nullptr) running_->Cancel();
  }
  wake_.NotifyOne();
}

void StreamSession::Main() {
  std::optional<StreamMessage> message;
  while (Pop(&message)) {
    if (message) {
      Handle(*message);
    } else {
      Push();
    }
  }
  SetCurrent(nullptr, "");
  RollBack();
}

bool StreamSession::Pop(std::optional<StreamMessage>* message) {
  const MutexLock lock(mutex_);
  wake_.Wait(lock, [&]() REQUIRES(mutex_) { return ended_ || !waiting_.empty() || MayPush(); });
  message->reset();
  if (ended_) return false;
  if (waiting_.empty()) return true;
  *message = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= (*message)->bytes;
  return true;
}

bool StreamSession::MayPush() const {
  return window_ && window_->sent - window_->acknowledged < window_->ahead &&
         window_->bytes < kMaxAheadBytes;
}

// One that crosses the end of its statement means nothing any more.
Result<bool> StreamSession::Acknowledge(const StreamMessage& message) {
  if (message.kind != Kind::kNext) return false;
  std::shared_ptr<query::Receipts> receipts;
  uint64_t acknowledged = 0;
  {
    const MutexLock lock(mutex_);
    if (message.id != last_window_id_) return false;
    if (!window_) return true;
    if (message.rows > window_->sent - window_->acknowledged) {
      return Fail(Code::kInvalidArgument, "stream.bad_message",
                  "a message of a stream acknowledges {} rows, when {} are not acknowledged",
                  message.rows, window_->sent - window_->acknowledged);
    }
    acknowledged = window_->acknowledged += message.rows;
    while (!window_->messages.empty() && window_->messages.front().first <= acknowledged) {
      window_->bytes -= window_->messages.front().second;
      window_->messages.pop_front();
    }
    receipts = window_->receipts;
  }
  wake_.NotifyOne();
  receipts->Acknowledge(acknowledged);
  return true;
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
  if (!failed_.ok() && RefusesInFailed(message, parameters)) return;
  parameters.txid = txid_;
  comdb2_ = parameters.cdb2_rows;
  auto answer = std::make_unique<StreamAnswer>(message.id, NewUuid(), parameters);
  std::optional<StreamWindow> window;
  if (message.ahead > 0) {
    window.emplace();
    window->ahead = message.ahead;
    window->receipts =
        std::make_shared<query::Receipts>([out = out_, id = message.id](uint64_t rows) {
          out->Send(fmt::format(R"({{"id":{},"acknowledged":{}}})", id, rows));
        });
  }
  Result<std::shared_ptr<QueryStatement>> statement =
      QueryStatement::Admit(service_,
                            {.who = who_,
                             .arrival_ns = service_.clock.MonotonicNs(),
                             .acknowledges = true,
                             .receipts = window ? window->receipts : nullptr},
                            std::move(parameters), std::move(answer));
  if (!statement) return Refuse(message.id, statement.error());
  const bool pulls = !window;
  SetCurrent(std::move(*statement), message.id, std::move(window));
  if (pulls) Pull(message.rows);
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
  if (chunk.last) EndStatement();
  out_->Send(std::move(chunk.text));
}

void StreamSession::EndStatement() {
  txid_ = current_->txid();
  if (txid_.empty()) {
    failed_ = OkStatus();
  } else if (comdb2_ && failed_.ok()) {
    failed_ = current_->failure();
  }
  SetCurrent(nullptr, "");
}

bool StreamSession::RefusesInFailed(const StreamMessage& message,
                                    const QueryParameters& parameters) {
  using Action = query::TransactionStatement::Action;
  const auto plan = service_.engine.Prepare(parameters.statement, parameters.context);
  const bool ends = plan && (*plan)->kind == query::StatementKind::kTransaction;
  const Action action = ends
                            ? std::get<query::TransactionStatement>((*plan)->statement->body).action
                            : Action::kBegin;
  if (action == Action::kRollback) return false;
  Refuse(message.id, failed_);
  if (action == Action::kCommit) {
    RollBack();
    txid_.clear();
    failed_ = OkStatus();
  }
  return true;
}

// As many as the window has room for.
void StreamSession::Push() {
  uint64_t room = 0;
  {
    const MutexLock lock(mutex_);
    if (!MayPush()) return;
    room = window_->ahead - (window_->sent - window_->acknowledged);
  }
  QueryStatement::Chunk chunk =
      current_->NextChunk({.rows = room, .bytes = kMessageBytes, .first_row_alone = false});
  {
    const MutexLock lock(mutex_);
    window_->sent += chunk.rows;
    window_->messages.emplace_back(window_->sent, chunk.text.size());
    window_->bytes += chunk.text.size();
  }
  out_->Send(std::move(chunk.text));
  if (chunk.last) EndStatement();
}

void StreamSession::CloseStatement(const StreamMessage& message) {
  if (current_ != nullptr && current_id_ == message.id) SetCurrent(nullptr, "");
  out_->Send(R"({"id":)" + message.id + R"(,"closed":true})");
}

// A close that came before its statement ends it, too.
void StreamSession::SetCurrent(std::shared_ptr<QueryStatement> statement, std::string id,
                               std::optional<StreamWindow> window) {
  // The last statement's run ends at the end of this function, which may take a moment: not under
  // the mutex.
  const std::shared_ptr<QueryStatement> last = std::exchange(current_, std::move(statement));
  current_id_ = std::move(id);
  const auto closes = [this](const StreamMessage& message) {
    return message.kind == Kind::kClose && message.id == current_id_;
  };
  const MutexLock lock(mutex_);
  if (current_ != nullptr) last_window_id_ = window ? current_id_ : "";
  window_ = std::move(window);
  running_ = current_;
  running_id_ = current_id_;
  if (running_ != nullptr && (ended_ || std::ranges::any_of(waiting_, closes))) running_->Cancel();
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
      service_.transactions, **plan, {.user = who_->user, .txid = txid_, .timeout_ms = 0});
  // One whose time was over has been rolled back already.
  if (!run) log::Info("a stream's transaction had ended", {{"error", run.error().message()}});
}

}  // namespace sluice::service
