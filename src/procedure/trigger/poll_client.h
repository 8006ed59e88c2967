// Consumers for clients that ask for events with one request after another, without a procedure. A
// request gets events of one shard, those after the last one that was acknowledged, however often
// it is repeated; after an acknowledgement it is the next shard's turn.
//
// A client has its consumer from its first request on. Its lease lapses some time after its last
// request has ended; then another client may take over. Clients differ by the names that they give.
//
// Concurrency: any thread. Requests wait in the caller's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/locked.h"
#include "base/signal.h"
#include "base/status.h"
#include "procedure/trigger/event.h"
#include "procedure/trigger/event_queue.h"
#include "procedure/trigger/live_queue.h"
#include "procedure/trigger/triggers.h"

namespace sluice::procedure {

inline constexpr uint64_t kDefaultLeaseMs = 10'000;
inline constexpr size_t kMaxPolled = 10'000;

struct PollRequest {
  std::string consumer;
  std::string client;
  // The last event that the client has handled. This event and the earlier ones of its shard are
  // consumed.
  std::optional<EventPlace> acknowledged;
  size_t max = 100;  // events; 0: only acknowledge
  uint64_t timeout_ms = 30'000;
  uint64_t lease_ms = kDefaultLeaseMs;
  bool release = false;  // the client leaves: its lease ends with this request
  std::shared_ptr<std::atomic<bool>> cancelled;
};

class PollClients {
 public:
  PollClients(query::QueryEngine& engine, const Triggers& triggers)
      : engine_(engine), triggers_(triggers) {}

  // Waits until there is an event; returns none when the time is over. Errors: consumer.not_found,
  // consumer.dropped, consumer.taken_over, consumer.bad_ack, consumer.shard_lost; consumer.busy
  // when another client had the consumer all the time.
  Result<std::vector<TriggerEvent>> Next(const PollRequest& request);

  // Call it when the server stops. Waiting and later requests end as if their time were over.
  void Stop() { stopping_ = true; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Client {
    std::shared_ptr<LiveQueue> live;
    std::unique_ptr<Seat> seat;
    std::unique_ptr<EventQueue> queue;
    // Another request of the client wants to leave, so the one that waits must end.
    std::atomic<bool> leaving = false;
  };
  struct Entry {
    // Its seat and queue belong to the request that has set `busy`.
    std::shared_ptr<Client> client = std::make_shared<Client>();
    bool busy = false;
    Time lapses = {};
  };
  using Key = std::pair<std::string, std::string>;  // consumer, client

  Result<std::shared_ptr<Client>> Enter(const PollRequest& request, Time deadline);
  void Leave(const PollRequest& request, const std::shared_ptr<Client>& client);
  void ForgetLapsed(Time now);
  bool Over(Time deadline) const;
  Status Sit(const PollRequest& request, Time deadline, Client* client);
  Status Acknowledge(const PollRequest& request, Client* client);
  // Waits for events.
  Result<std::vector<TriggerEvent>> Collect(const PollRequest& request, Time deadline,
                                            Client* client);
  // Those that are there, of the shard whose turn it is.
  Result<std::vector<TriggerEvent>> Waiting(const PollRequest& request, EventQueue& queue);

  query::QueryEngine& engine_;
  const Triggers& triggers_;
  std::atomic<bool> stopping_ = false;
  Locked<std::map<Key, Entry>> clients_;
  Signal left_;  // a request has ended
};

}  // namespace sluice::procedure
