// Consumers of events for clients that ask for them: who may have one, who has it, and its events
// by long polls.
//
// Made by server/ after the manager of procedures, destroyed before it, when the listeners have
// stopped. Concurrency: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "auth/roles.h"
#include "base/status.h"
#include "json/value.h"
#include "net/exchange.h"
#include "net/session_threads.h"
#include "net/task.h"
#include "procedure/manager.h"
#include "procedure/trigger/poll_client.h"
#include "query/engine.h"

namespace sluice::service {

class Consumers {
 public:
  using Events = std::vector<procedure::TriggerEvent>;

  struct Info {
    std::string name;
    std::vector<std::string> sources;
    procedure::Seats::Occupancy occupancy;
    json::Value depth;  // events that wait
    json::Value lag_s;  // the age of the first of them
  };

  Consumers(query::QueryEngine& engine, procedure::Manager& procedures)
      : engine_(engine), procedures_(procedures), polls_(engine, procedures.triggers()) {}

  // Those that `who` may have: all that they hear of may be read. Blocks.
  std::vector<Info> List(const auth::Principal& who) const;

  // Acknowledges events and waits for the next ones, on a thread of their own. `poll.client` is the
  // client's name among those of its user. consumer.not_found, auth.forbidden, http.overloaded when
  // too many wait, http.cancelled when the client has left, and what procedure::PollClients says.
  net::Task<Result<Events>> Next(const auth::Principal& who, net::Exchange& exchange,
                                 procedure::PollRequest poll);

  // What waits is answered now.
  void Stop() { polls_.Stop(); }

 private:
  static constexpr size_t kMaxPolls = 256;  // at the same time

  bool MayConsume(const auth::Principal& who, const procedure::TriggerDefinition& definition) const;

  query::QueryEngine& engine_;
  procedure::Manager& procedures_;
  procedure::PollClients polls_;
  net::SessionThreads threads_{kMaxPolls};  // last: they use the others
};

}  // namespace sluice::service
