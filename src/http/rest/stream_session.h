// One client's streaming SQL connection: its statements, one at a time, its transaction, and what
// it has SET.
//
// The connection's thread hands messages over; the session's own thread works on them in order and
// answers each with one message. Rows are pulled only as far as the client has asked for them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "http/rest/query_parameters.h"
#include "http/rest/query_service.h"
#include "http/rest/query_statement.h"
#include "http/rest/stream_message.h"
#include "http/websocket.h"

namespace sluice::http::rest {

class StreamSession {
 public:
  StreamSession(QueryService& service, std::shared_ptr<const Principal> sender,
                std::shared_ptr<WebSocket::Sender> out);

  // The connection's thread. stream.bad_message, stream.too_many_messages: close the connection.
  Status Receive(std::string_view text);
  // The client has gone: what runs is ended, what is open rolled back. Any thread, also repeatedly.
  void End();

  // The session's thread, until End.
  void Main();

 private:
  static constexpr size_t kMaxWaiting = 64;
  static constexpr size_t kMaxWaitingBytes = 64 << 20;

  std::optional<StreamMessage> Pop();
  void Handle(const StreamMessage& message);
  void Begin(const StreamMessage& message);
  void Set(const StreamMessage& message, const std::string& name, const std::string& value);
  void Pull(uint64_t rows);
  void CloseStatement(const StreamMessage& message);
  // Answers what did not become a statement.
  void Refuse(const std::string& id, const Status& why);
  void Finish(const std::string& id, const QueryOutcome& outcome);
  void RollBack();
  void SetCurrent(std::shared_ptr<QueryStatement> statement, std::string id);

  QueryService& service_;
  const std::shared_ptr<const Principal> sender_;
  const std::shared_ptr<WebSocket::Sender> out_;

  // The session's thread.
  QueryParameters defaults_;
  std::string txid_;  // empty for none

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<StreamMessage> waiting_;  // under mutex_
  size_t waiting_bytes_ = 0;           // under mutex_
  bool ended_ = false;                 // under mutex_
  // Set by the session's thread, under mutex_.
  std::shared_ptr<QueryStatement> current_;
  std::string current_id_;
};

}  // namespace sluice::http::rest
