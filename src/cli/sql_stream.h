// Statements over a server's /query/stream (docs/reference/stream.md), one after the other.
//
// Connects when it must. A connection that the server has closed meanwhile is made again, with what
// was SET, unless a transaction was open.
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

  // What is called with rows, before more are asked for and these thereby acknowledged. An error
  // ends the statement, and then they are not.
  using Sink = std::function<Status(const json::Value& rows)>;

  struct Call {
    SqlStatement statement;
    std::string file;         // for errors; empty for none
    json::Value parameters;   // an object of the query service's
    uint64_t rows = 1000;     // that are asked for at once
    uint64_t timeout_ms = 0;  // the longest wait for rows; 0: no limit
  };
  // The answer without rows. query.cancelled when interrupted, client.timeout when rows took longer
  // than the call says.
  Result<SqlAnswer> Run(const Call& call, const Sink& sink);

  // Rows come ahead of their acknowledgements, up to call.rows. The sink says how many of those
  // that it gets it has dealt with, from the first one on, which acknowledges them. When that is
  // enough the statement ends; what was acknowledged is consumed then. Errors as above; an error of
  // the sink acknowledges nothing more.
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
  // Ends the statement that runs; returns when what was acknowledged is consumed.
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
