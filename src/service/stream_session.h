// One client's streaming SQL connection: its statements, one at a time, its transaction, and what
// it has SET.
//
// The connection's thread hands messages over; the session's own thread works on them in order and
// answers each with one message. Rows are pulled only as far as the client has asked for them; a
// statement with "ahead" is sent rows unasked until so many are not acknowledged.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "auth/roles.h"
#include "base/mutex.h"
#include "base/status.h"
#include "service/query_parameters.h"
#include "service/query_service.h"
#include "service/query_statement.h"
#include "service/stream_message.h"

namespace sluice::service {

// Where messages for the client go. Any thread; does nothing once the client has gone.
class StreamOutlet {
 public:
  virtual ~StreamOutlet() = default;
  virtual void Send(std::string text) = 0;
};

// The window of a statement with "ahead": rows that were sent and are not acknowledged.
struct StreamWindow {
  uint64_t ahead = 0;
  uint64_t sent = 0;  // rows
  uint64_t acknowledged = 0;
  std::deque<std::pair<uint64_t, size_t>> messages;  // not acknowledged: rows up to it, its bytes
  size_t bytes = 0;                                  // of those
  std::shared_ptr<query::Receipts> receipts;
};

class StreamSession {
 public:
  StreamSession(QueryService& service, std::shared_ptr<const auth::Principal> who,
                std::shared_ptr<StreamOutlet> out);

  // The connection's thread. stream.bad_message, stream.too_many_messages: close the connection.
  Status Receive(std::string_view text);
  // The client has gone: what runs is ended, what is open rolled back. Any thread, also repeatedly.
  void End();

  // The session's thread, until End.
  void Main();

 private:
  static constexpr size_t kMaxWaiting = 64;
  static constexpr size_t kMaxWaitingBytes = 64 << 20;

  // A message, or none when rows are to be sent. False at the end.
  bool Pop(std::optional<StreamMessage>* message);
  bool MayPush() const REQUIRES(mutex_);
  // Whether it was about a statement with a window.
  Result<bool> Acknowledge(const StreamMessage& message);
  void Handle(const StreamMessage& message);
  void Begin(const StreamMessage& message);
  void Set(const StreamMessage& message, const std::string& name, const std::string& value);
  void Pull(uint64_t rows);
  void Push();
  // After the last part of the current statement's answer.
  void EndStatement();
  // Answers a statement in a transaction that has failed, unless it may run.
  bool RefusesInFailed(const StreamMessage& message, const QueryParameters& parameters);
  void CloseStatement(const StreamMessage& message);
  // Answers what did not become a statement.
  void Refuse(const std::string& id, const Status& why);
  void Finish(const std::string& id, const QueryOutcome& outcome);
  void RollBack();
  void SetCurrent(std::shared_ptr<QueryStatement> statement, std::string id,
                  std::optional<StreamWindow> window = std::nullopt);

  QueryService& service_;
  const std::shared_ptr<const auth::Principal> who_;
  const std::shared_ptr<StreamOutlet> out_;

  // The session's thread.
  QueryParameters defaults_;
  std::string txid_;  // empty for none
  // As Comdb2 has it, for statements with its rows: after an error a transaction can't be committed
  // any more. OK while there was none.
  Status failed_;
  bool comdb2_ = false;  // the current statement has its rows

  std::shared_ptr<QueryStatement> current_;
  std::string current_id_;

  Mutex mutex_;
  CondVar wake_;
  std::deque<StreamMessage> waiting_ GUARDED_BY(mutex_);
  size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
  // The current statement, for other threads that cancel it.
  std::shared_ptr<QueryStatement> running_ GUARDED_BY(mutex_);
  std::string running_id_ GUARDED_BY(mutex_);
  std::optional<StreamWindow> window_ GUARDED_BY(mutex_);  // of the current statement
  std::string last_window_id_ GUARDED_BY(mutex_);          // of the last statement that had one
};

}  // namespace sluice::service
