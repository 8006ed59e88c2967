// A trigger or a consumer while the server runs. Threads that wait for its events wait here; its
// signal is closed when it is dropped.
//
// Concurrency: any thread.
#pragma once

#include <memory>
#include <mutex>

#include "base/signal.h"
#include "procedure/trigger/definition.h"
#include "procedure/trigger/event_counter.h"
#include "procedure/trigger/seat.h"

namespace sluice::procedure {

class LiveQueue {
 public:
  using Deadline = Signal::Deadline;

  explicit LiveQueue(std::shared_ptr<const TriggerDefinition> definition)
      : definition_(std::move(definition)) {}

  std::shared_ptr<const TriggerDefinition> definition() const;
  // Of the same name and sources.
  void SetDefinition(std::shared_ptr<const TriggerDefinition> definition);

  // Who has it, if it is a consumer.
  Seats& seats() const { return *seats_; }
  EventCounter& counter() { return counter_; }

  // There may be new events, or something else to look at.
  Signal& signal() { return signal_; }
  void Drop();
  bool dropped() const { return signal_.closed(); }

 private:
  const std::shared_ptr<Seats> seats_ = std::make_shared<Seats>();
  EventCounter counter_;
  Signal signal_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TriggerDefinition> definition_;  // guarded by mutex_
};

}  // namespace sluice::procedure
