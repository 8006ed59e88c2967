// dbconsumer: what db:consumer() returns to the procedure of a consumer.
#pragma once

#include <memory>
#include <string>

#include "lua/host.h"
#include "procedure/session.h"
#include "procedure/trigger/event.h"
#include "procedure/trigger/live_queue.h"

namespace sluice::procedure {

// A consumer's events while one client has it.
struct Consumption {
  Session& session;
  std::shared_ptr<LiveQueue> live;
  std::unique_ptr<Seat> seat;
  std::unique_ptr<follow::LaneQueue> queue;
  EventFields fields;
  bool current = false;  // the last event that was given is not consumed yet
  uint64_t emit_timeout_ms;

  // With what else is to be committed. Refused when somebody has taken over.
  Status Commit(db::Commit commit);
  void Rewind();
  // Tells the client that what it has acknowledged is consumed.
  void Confirm();
  // consumer.taken_over, or consumer.dropped
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
