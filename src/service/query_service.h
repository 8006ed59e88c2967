// The query service: what the statements of all clients share, whatever protocol they come by. They
// run on threads of its own, so that none keeps other requests waiting. At most `threads` short and
// `threads` long statements run at once; further long ones pause (query/turns.h).
//
// Made by server/ after the engine and destroyed before it, when the listeners have stopped.
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "auth/directory.h"
#include "base/clock.h"
#include "base/pool.h"
#include "json/value.h"
#include "net/session_threads.h"
#include "query/active_requests.h"
#include "query/completed_requests.h"
#include "query/engine.h"
#include "query/transactions.h"
#include "query/turns.h"

namespace sluice::service {

struct QueryServiceOptions {
  size_t threads = 8;
  size_t max_requests = 256;
  size_t max_streams = 256;
  uint64_t timeout_ms = 0;  // of a request that asks for none or for a longer one; 0: none
  // Statements that took as long are listed when they have ended; so are those that failed.
  uint64_t completed_threshold_ms = 1000;
  // All accounts, and the row of system:nodes; null: these keyspaces are empty.
  std::function<auth::Accounts()> accounts = nullptr;
  std::function<json::Value()> node = nullptr;
};

class QueryService {
 public:
  QueryService(query::QueryEngine& engine, const QueryServiceOptions& options, const Clock& clock)
      : engine(engine),
        options(options),
        clock(clock),
        active(options.max_requests),
        completed(options.completed_threshold_ms),
        transactions(engine.database(), {}),
        turns(options.threads, clock),
        // Each long statement keeps a thread, and there are at most max_requests statements.
        workers({.kind = "query worker",
                 .most_threads = options.threads + options.max_requests,
                 .most_running = options.threads,
                 .most_queued = options.max_requests,
                 .long_time = query::LongTurns::kShort}),
        streams(options.max_streams) {}

  query::QueryEngine& engine;
  const QueryServiceOptions options;
  const Clock& clock;
  query::ActiveRequests active;
  query::CompletedRequests completed;
  query::Transactions transactions;
  query::LongTurns turns;
  // Last: their statements use the others.
  Pool workers;
  net::SessionThreads streams;
};

}  // namespace sluice::service
