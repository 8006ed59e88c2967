// Statements over a server's /query/stream (docs/reference/stream.md), one after the other.
//
// Connects when it must. If the server has closed the connection, it connects again and repeats the
// SET statements, unless a transaction was open.
//
// One thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/api.h"
#include "cli/sql_answer.h"
#include "cli/sql_splitter.h"
#include "client/websocket.h"
#include "json/value.h"

namespace sluice::cli {

class SqlStream {
 public:
  // `interrupted` becomes true when the user gave up waiting.
  SqlStream(Api* api, const std::atomic<bool>* interrupted)
      : api_(api), interrupted_(interrupted) {}

  // Gets the rows before the request for more, which acknowledges them. If it returns an error, the
  // statement ends and the rows are not acknowledged.
  using Sink = std::function<Status(const json::Value& rows)>;

  struct Call {
    SqlStatement statement;
    std::string file;         // for errors; empty for none
    json::Value parameters;   // an object of the query service's
    uint64_t rows = 1000;     // the rows of one request
    uint64_t timeout_ms = 0;  // the longest wait for rows; 0: no limit
  };
  // The answer without rows. query.cancelled when interrupted, client.timeout when rows took longer
  // than the call says.
  Result<SqlAnswer> Run(const Call& call, const Sink& sink);

  // Up to call.rows rows arrive before they are acknowledged. The sink returns how many of its rows
  // it has handled, counted from the first; this acknowledges them. If the sink sets `enough`, the
  // statement ends, and the acknowledged rows are consumed then. Errors as above; after an error of
  // the sink no more rows are acknowledged.
  struct Taken {
    uint64_t rows = 0;
    bool enough = false;
  };
  using AheadSink = std::function<Result<Taken>(const json::Value& rows)>;
  Result<SqlAnswer> RunAhead(const Call& call, const AheadSink& sink);

  // A statement that each connection begins with.
  void SetAtStart(std::string statement);
  bool in_transaction() const { return in_transaction_; }

 private:
  Status Connect();
  Result<json::Value> Ask(const json::Value& message, uint64_t timeout_ms);
  Result<json::Value> Receive(const client::WebSocket::Patience& patience);
  Result<SqlAnswer> Pull(const Call& call, json::Value message, const Sink& sink);
  Result<SqlAnswer> TakeAhead(const Call& call, const AheadSink& sink);
  // After a statement that failed.
  Result<SqlAnswer> GiveUp(const Status& error);
  // Ends the running statement; returns when the acknowledged rows are consumed.
  Status CloseStatement();
  void Follow(const SqlStatement& statement, const SqlAnswer& answer);

  Api* const api_;
  const std::atomic<bool>* const interrupted_;
  std::unique_ptr<client::WebSocket> socket_;
  int64_t id_ = 0;  // of the statement
  bool in_transaction_ = false;
  std::string at_start_;
  std::vector<std::string> sets_;  // SET statements that succeeded
};

}  // namespace sluice::cli
