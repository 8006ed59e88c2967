// One client's streaming SQL connection: its statements, one at a time, its transaction, and what
// it has SET.
//
// The connection's thread hands messages over; the session's own thread works on them in order and
// answers each with one message. Rows are pulled only as far as the client has asked for them; a
// statement with "ahead" is sent rows unasked until so many are not acknowledged.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "auth/roles.h"
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

  // The window of a statement with "ahead". Its own mutex is the session's.
  struct Window {
    uint64_t ahead = 0;
    uint64_t sent = 0;  // rows
    uint64_t acknowledged = 0;
    std::deque<std::pair<uint64_t, size_t>> messages;  // not acknowledged: rows up to it, its bytes
    size_t bytes = 0;                                  // of those
    std::shared_ptr<query::Receipts> receipts;
  };

  // A message, or none when rows are to be sent. False at the end.
  bool Pop(std::optional<StreamMessage>* message);
  bool MayPush() const;  // under mutex_
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
                  std::optional<Window> window = std::nullopt);

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

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<StreamMessage> waiting_;  // under mutex_
  size_t waiting_bytes_ = 0;           // under mutex_
  bool ended_ = false;                 // under mutex_
  // Set by the session's thread, under mutex_.
  std::shared_ptr<QueryStatement> current_;
  std::string current_id_;
  std::optional<Window> window_;  // under mutex_; of the current statement
  std::string last_window_id_;    // under mutex_; of the last statement that had one
};

}  // namespace sluice::service
