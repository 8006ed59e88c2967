// Consumers for clients that ask for events request by request, without a procedure: each gets the
// events after the last that was acknowledged, as often as it asks.
//
// A client has its consumer from its first request until its lease lapses, that long after the end
// of its last one; then another client may take over. Clients are told apart by the name that they
// give.
//
// Concurrency: any thread. Requests wait in the caller's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "procedure/trigger/event.h"
#include "procedure/trigger/live_queue.h"
#include "procedure/trigger/triggers.h"

namespace sluice::procedure {

inline constexpr uint64_t kDefaultLeaseMs = 10'000;
inline constexpr size_t kMaxPolled = 10'000;

struct PollRequest {
  std::string consumer;
  std::string client;
  // The last event that was handled: it and those before it are consumed.
  std::optional<db::LogPosition> acknowledged;
  size_t max = 100;  // events; 0: only acknowledge
  uint64_t timeout_ms = 30'000;
  uint64_t lease_ms = kDefaultLeaseMs;
  bool release = false;  // the client leaves: its lease is over with this request
  std::shared_ptr<std::atomic<bool>> cancelled;
};

class PollClients {
 public:
  PollClients(query::QueryEngine& engine, const Triggers& triggers)
      : engine_(engine), triggers_(triggers) {}

  // Waits until there is an event, or the time is over: then there is none. Errors:
  // consumer.not_found, consumer.dropped, consumer.taken_over, consumer.bad_ack; consumer.busy when
  // another client had it all the time.
  Result<std::vector<TriggerEvent>> Next(const PollRequest& request);

  // The server stops: requests that wait end as if their time were over, and so do later ones.
  void Stop() { stopping_ = true; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Client {
    std::shared_ptr<LiveQueue> live;
    std::unique_ptr<Seat> seat;
    std::unique_ptr<follow::LaneQueue> queue;
    bool busy = false;  // under mutex_; the three above belong to whoever set it
    bool owns = false;  // under mutex_; as of the last request
    // Another request of the client wants it released: the one that waits ends.
    std::atomic<bool> leaving = false;
    Time lapses;  // under mutex_
  };
  using Key = std::pair<std::string, std::string>;  // consumer, client

  Result<std::shared_ptr<Client>> Enter(const PollRequest& request, Time deadline);
  void Leave(const PollRequest& request, const std::shared_ptr<Client>& client);
  void ForgetLapsed(Time now);  // under mutex_
  bool Over(Time deadline) const;
  Status Sit(const PollRequest& request, Time deadline, Client* client);
  Status Acknowledge(const PollRequest& request, Client* client);
  Result<std::vector<TriggerEvent>> Collect(const PollRequest& request, Time deadline,
                                            Client* client);

  query::QueryEngine& engine_;
  const Triggers& triggers_;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::map<Key, std::shared_ptr<Client>> clients_;  // under mutex_
};

}  // namespace sluice::procedure
