#include "procedure/trigger/poll_client.h"

#include <algorithm>

namespace sluice::procedure {
namespace {

// A request that waits looks this often whether it was cancelled.
constexpr std::chrono::milliseconds kPollLook(100);
// A client's state is forgotten this long after its lease has lapsed.
constexpr std::chrono::seconds kForget(60);
constexpr size_t kMaxBytes = 16 << 20;  // of the events of one answer
// The longest time that a client which leaves waits for its own other request to end.
constexpr std::chrono::seconds kRelease(5);

bool GivenUp(const PollRequest& request) {
  return request.cancelled != nullptr && request.cancelled->load();
}

Status Gone() { return Error(Code::kCancelled, "procedure.client_gone", "the client has gone"); }

Status Dropped(const std::string& name) {
  return Error(Code::kNotFound, "consumer.dropped", "consumer '{}' was dropped", name);
}

}  // namespace

Result<std::vector<TriggerEvent>> PollClients::Next(const PollRequest& request) {
  const Time deadline = MachineClock().Now() + std::chrono::milliseconds(request.timeout_ms);
  ASSIGN_OR_RETURN(const std::shared_ptr<Client> client, Enter(request, deadline));
  Result<std::vector<TriggerEvent>> events;
  Status status = Sit(request, deadline, client.get());
  if (status.ok()) status = Acknowledge(request, client.get());
  if (status.ok()) {
    events = Collect(request, deadline, client.get());
  } else {
    events = Unexpected(status);
  }
  if (!events) client->queue.reset();  // read again from the stored cursor
  Leave(request, client);
  return events;
}

// Waits until no other request of the client is under way.
Result<std::shared_ptr<PollClients::Client>> PollClients::Enter(const PollRequest& request,
                                                                Time deadline) {
  ForgetLapsed(MachineClock().Now());
  if (request.release) deadline = std::max(deadline, MachineClock().Now() + kRelease);
  while (true) {
    const uint64_t seen = left_.news();
    {
      const auto clients = clients_.Lock();
      Entry& entry = (*clients)[{request.consumer, request.client}];
      if (!entry.busy) {
        entry.busy = true;
        entry.client->leaving = false;
        return entry.client;
      }
      if (request.release) entry.client->leaving = true;
    }
    if (GivenUp(request)) return Unexpected(Gone());
    if (Over(deadline)) {
      return Fail(Code::kConflict, "consumer.busy",
                  "another request of the client '{}' to consumer '{}' is under way",
                  request.client, request.consumer);
    }
    left_.Wait(seen, std::min(deadline, MachineClock().Now() + kPollLook));
  }
}

void PollClients::Leave(const PollRequest& request, const std::shared_ptr<Client>& client) {
  Time lapses;
  if (client->seat == nullptr || request.release) {
    client->seat.reset();
    client->queue.reset();
  } else {
    lapses = MachineClock().Now() + std::chrono::milliseconds(request.lease_ms);
    client->seat->StallAt(lapses);
  }
  {
    const auto clients = clients_.Lock();
    Entry& entry = (*clients)[{request.consumer, request.client}];
    entry.busy = false;
    entry.lapses = lapses;
  }
  left_.Wake();
}

bool PollClients::Over(Time deadline) const {
  return stopping_ || MachineClock().Now() >= deadline;
}

void PollClients::ForgetLapsed(Time now) {
  std::vector<std::shared_ptr<Client>> forgotten;  // whose seats are left without the lock
  const auto clients = clients_.Lock();
  std::erase_if(*clients, [&](const auto& item) {
    const Entry& entry = item.second;
    if (entry.busy || now <= entry.lapses + kForget) return false;
    forgotten.push_back(entry.client);
    return true;
  });
}

Status PollClients::Sit(const PollRequest& request, Time deadline, Client* client) {
  const auto live = triggers_.Find(request.consumer);
  if (!live || !(*live)->definition()->consumer) {
    client->seat.reset();
    return Error(Code::kNotFound, "consumer.not_found", "there is no consumer '{}'",
                 request.consumer);
  }
  if (client->live != *live) client->seat.reset();  // it was dropped and made again
  client->live = *live;
  if (client->seat != nullptr) {
    client->seat->Resume();
    if (!client->seat->held()) client->seat.reset();
  }
  if (client->seat == nullptr) {
    client->queue.reset();
    client->seat = (*live)->seats().Take(
        request.client, deadline, [&] { return GivenUp(request) || client->leaving || stopping_; });
  }
  if (client->seat == nullptr) {
    if (GivenUp(request)) return Gone();
    if ((*live)->dropped()) return Dropped(request.consumer);
    return Error(Code::kConflict, "consumer.busy", "another client has consumer '{}'",
                 request.consumer);
  }
  if (client->queue != nullptr) return OkStatus();
  client->queue = std::make_unique<EventQueue>(engine_, *live);
  return OkStatus();
}

// An event that was acknowledged before may be acknowledged again, which needs no commit.
Status PollClients::Acknowledge(const PollRequest& request, Client* client) {
  if (!request.acknowledged) return OkStatus();
  EventQueue& queue = *client->queue;
  ASSIGN_OR_RETURN(const bool found, queue.TakeThrough(*request.acknowledged, kMaxPolled));
  if (!found) {
    return Error(Code::kInvalidArgument, "consumer.bad_ack",
                 "'ack' is not the id of an event that consumer '{}' has given", request.consumer);
  }
  if (queue.taken() == 0) return OkStatus();
  if (!client->seat->held()) {
    return Error(Code::kConflict, "consumer.taken_over",
                 "another client has taken over consumer '{}'", request.consumer);
  }
  return queue.Commit({});
}

Result<std::vector<TriggerEvent>> PollClients::Collect(const PollRequest& request, Time deadline,
                                                       Client* client) {
  if (request.max == 0) return std::vector<TriggerEvent>();
  while (true) {
    const uint64_t seen = client->live->signal().news();
    Result<std::vector<TriggerEvent>> events = Waiting(request, *client->queue);
    client->queue->Rewind();
    // The other shards may have events.
    if (!events && events.error().id() == "consumer.shard_lost") continue;
    if (!events || !events->empty()) return events;
    const Time now = MachineClock().Now();
    if (client->leaving || Over(deadline)) return events;
    if (GivenUp(request)) return Unexpected(Gone());
    if (client->live->dropped()) return Unexpected(Dropped(request.consumer));
    client->live->signal().Wait(seen, std::min(deadline, now + kPollLook));
  }
}

Result<std::vector<TriggerEvent>> PollClients::Waiting(const PollRequest& request,
                                                       EventQueue& queue) {
  std::vector<TriggerEvent> events;
  size_t bytes = 0;
  while (events.size() < request.max && bytes < kMaxBytes) {
    ASSIGN_OR_RETURN(const TriggerEvent* const event, queue.Next());
    if (event == nullptr) break;
    events.push_back(*event);
    bytes += event->bytes;
    queue.Take();
  }
  return events;
}

}  // namespace sluice::procedure
