// Consumers over plain HTTP: their list, and their events by long polls.
#pragma once

#include "base/status.h"
#include "net/session_threads.h"
#include "procedure/manager.h"
#include "procedure/trigger/poll_client.h"
#include "query/engine.h"
#include "rest/http_types.h"

namespace sluice::rest {

// Made by server/ after the manager of procedures, destroyed before it, when the HTTP server has
// stopped. Concurrency: any thread.
class ConsumerService {
 public:
  ConsumerService(query::QueryEngine& engine, procedure::Manager& procedures)
      : engine(engine), procedures(procedures), polls(engine, procedures.triggers()) {}

  query::QueryEngine& engine;
  procedure::Manager& procedures;
  procedure::PollClients polls;
  net::SessionThreads threads{kMaxPolls};  // last: they use the others

 private:
  static constexpr size_t kMaxPolls = 256;  // at the same time
};

// GET /v1/consumers and POST /v1/consumers/{name}/next. The service must outlive the router.
Status AddConsumerRoutes(Router& router, ConsumerService& service);

}  // namespace sluice::rest
