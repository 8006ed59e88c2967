// A trigger or a consumer while the server runs. Threads that wait for its events wait here; its
// signal is closed when it is dropped.
//
// Concurrency: any thread.
#pragma once

#include <memory>

#include "base/locked.h"
#include "base/signal.h"
#include "follow/shard_gate.h"
#include "procedure/trigger/definition.h"
#include "procedure/trigger/event_counter.h"
#include "procedure/trigger/seat.h"

namespace sluice::procedure {

class LiveQueue {
 public:
  using Deadline = Signal::Deadline;

  LiveQueue(std::shared_ptr<const TriggerDefinition> definition,
            std::shared_ptr<follow::ShardGate> gate)
      : gate_(std::move(gate)), definition_(std::move(definition)) {}

  std::shared_ptr<const TriggerDefinition> definition() const { return definition_.Copy(); }
  // The new definition has the same name and sources.
  void SetDefinition(std::shared_ptr<const TriggerDefinition> definition);

  // Of the shards in which triggers and consumers work.
  follow::ShardGate& gate() const { return *gate_; }
  // The clients of a consumer. There is one seat, whatever the number of shards.
  Seats& seats() const { return *seats_; }
  EventCounter& counter() { return counter_; }

  // Woken when there may be new events or another change.
  Signal& signal() { return signal_; }
  void Drop();
  bool dropped() const { return signal_.closed(); }

 private:
  const std::shared_ptr<follow::ShardGate> gate_;
  const std::shared_ptr<Seats> seats_ = std::make_shared<Seats>();
  EventCounter counter_;
  Signal signal_;
  Locked<std::shared_ptr<const TriggerDefinition>> definition_;
};

}  // namespace sluice::procedure
