// A route: a function with a number of instances. As many calls run at once as there are instances.
// Further calls wait in order; past a bound they are refused.
//
// Concurrency: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/locked.h"
#include "flow_engine/task.h"

namespace sluice::flow_engine {

inline constexpr int kMaxInstances = 1000;
inline constexpr size_t kMaxWaiting = 10'000;  // calls of one route

struct RouteLimits {
  int instances = 1;
  size_t queue = kMaxWaiting;  // calls that wait at once
  // Only for flows of the app: rest.yaml can't name it.
  bool is_private = false;
};

class Route {
 public:
  // An instance. It belongs to the thread that has entered it.
  struct Slot {
    int number = 0;
    std::unique_ptr<TaskInstance> instance = nullptr;        // made by the first call
    std::shared_ptr<std::atomic<bool>> cancelled = nullptr;  // TaskInput, of the last call
    // Only the thread that has the instance changes these.
    std::atomic<uint64_t> calls = 0;
    std::atomic<uint64_t> failures = 0;
  };
  // Runs when an instance is free, on a thread that may block.
  using Job = std::move_only_function<void(Slot& slot)>;

  Route(std::string name, RouteLimits limits, TaskMaker maker)
      : name_(std::move(name)), limits_(limits), maker_(std::move(maker)) {}

  const std::string& name() const { return name_; }
  int instances() const { return limits_.instances; }
  const RouteLimits& limits() const { return limits_; }
  const TaskMaker& maker() const { return maker_; }

  // A free instance, which is the caller's until Leave; null when there is none. Prefers the one
  // that the calling thread has had last.
  Slot* TryEnter();
  // The same, but when there is none, keeps the job for later. Error route.overloaded.
  Result<Slot*> Enter(Job& job);
  // Gives the instance back; or returns a waiting job, which the caller runs on it.
  std::optional<Job> Leave(Slot* slot);
  // Drops the jobs that wait: nobody leaves any more.
  void DropWaiting();

  // Makes the instance unless the slot has one.
  Status Prepare(Slot& slot);
  // Runs a call on an instance of this route.
  TaskOutput Run(Slot& slot, TaskInput input);

  struct Stats {
    int busy = 0;
    size_t waiting = 0;
    uint64_t calls = 0;
    uint64_t failures = 0;
  };
  Stats stats() const;

 private:
  // A thread leaves an instance that nobody waits for in its spot, and looks there first. So it
  // finds the instance in its core's caches, and meets no other thread. Other threads take it from
  // the spot before they make a new one.
  struct alignas(64) Spot {
    std::atomic<Slot*> slot = nullptr;
  };
  static constexpr size_t kSpots = 16;
  std::atomic<Slot*>& MySpot();
  struct Table {
    std::vector<std::unique_ptr<Slot>> slots;  // all that were made
    std::vector<Slot*> free;                   // those that nobody has and that are in no spot
    std::deque<Job> waiting;
  };
  Slot* TakeFree(Table& table);

  const std::string name_;
  const RouteLimits limits_;
  const TaskMaker maker_;
  std::array<Spot, kSpots> spots_;
  // Calls in Table::waiting, and those that are about to be there. A thread that leaves an instance
  // in a spot reads this count afterwards; a thread that is about to wait raises it and looks at
  // the spots afterwards. So at least one of them sees the other.
  alignas(64) std::atomic<size_t> waiting_count_ = 0;
  alignas(64) Locked<Table> table_;
};

}  // namespace sluice::flow_engine
