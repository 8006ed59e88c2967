// A trigger or a consumer while the server runs: who waits for its events is woken here, and told
// when it was dropped.
//
// Concurrency: any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "procedure/trigger/definition.h"
#include "procedure/trigger/event_counter.h"
#include "procedure/trigger/seat.h"

namespace sluice::procedure {

class LiveQueue {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  explicit LiveQueue(std::shared_ptr<const TriggerDefinition> definition)
      : definition_(std::move(definition)) {}

  std::shared_ptr<const TriggerDefinition> definition() const;
  // Of the same name and sources.
  void SetDefinition(std::shared_ptr<const TriggerDefinition> definition);

  // Who has it, if it is a consumer.
  Seats& seats() const { return *seats_; }
  EventCounter& counter() { return counter_; }

  // There may be new events, or something else to look at. Cheap.
  void Wake();
  void Drop();
  bool dropped() const;

  // Counts the calls of Wake: taken before looking, and given to Wait after having found nothing.
  uint64_t news() const;
  enum class Waited : uint8_t { kNews, kTimeout, kDropped };
  Waited Wait(uint64_t seen, Deadline deadline = std::nullopt);

 private:
  const std::shared_ptr<Seats> seats_ = std::make_shared<Seats>();
  EventCounter counter_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const TriggerDefinition> definition_;  // under mutex_
  uint64_t news_ = 0;                                    // under mutex_
  bool dropped_ = false;                                 // under mutex_
};

}  // namespace sluice::procedure
