// dbconsumer: the object that db:consumer() returns to the procedure of a consumer.
#pragma once

#include <memory>
#include <string>

#include "lua/host.h"
#include "procedure/session.h"
#include "procedure/trigger/event.h"
#include "procedure/trigger/event_queue.h"
#include "procedure/trigger/live_queue.h"

namespace sluice::procedure {

// The events of a consumer, for the run of the client that has its seat.
struct Consumption {
  Session& session;
  std::shared_ptr<LiveQueue> live;
  std::unique_ptr<Seat> seat;
  std::unique_ptr<EventQueue> queue;
  EventFields fields;
  bool current = false;  // the procedure has an event that it has not consumed
  uint64_t emit_timeout_ms;

  // Commits the consumption of the events together with `commit`. Errors: consumer.taken_over when
  // another client has taken over; consumer.shard_lost.
  Status Commit(db::Commit commit);
  void Rewind();
  // Tells the client that the events of the rows it has acknowledged are consumed.
  void Confirm();
  // Errors: consumer.taken_over, consumer.dropped.
  Status CheckHeld() const;
};

class ConsumerObject final : public lua::HostObject {
 public:
  explicit ConsumerObject(std::shared_ptr<Consumption> consumption)
      : HostObject(Class()), consumption_(std::move(consumption)) {}
  static const lua::HostClass& Class();
  Consumption& consumption() { return *consumption_; }

 private:
  const std::shared_ptr<Consumption> consumption_;
};

}  // namespace sluice::procedure
