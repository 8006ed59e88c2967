// A route: a function with a number of instances. As many calls run at once as there are instances;
// those that come then wait in order, and past a bound they are refused.
//
// Concurrency: any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "route/task.h"

namespace sluice::route {

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
  // An instance, held by whoever runs it.
  struct Slot {
    int number = 0;
    std::unique_ptr<TaskInstance> instance = nullptr;  // made by the first call
  };
  // What to do when an instance is free; on a thread that may block.
  using Job = std::move_only_function<void(Slot& slot)>;

  Route(std::string name, RouteLimits limits, TaskMaker maker)
      : name_(std::move(name)), limits_(limits), maker_(std::move(maker)) {}

  const std::string& name() const { return name_; }
  int instances() const { return limits_.instances; }
  const RouteLimits& limits() const { return limits_; }
  const TaskMaker& maker() const { return maker_; }

  // A free instance, which is then the caller's until Leave; null when there is none.
  Slot* TryEnter();
  // The same, but when there is none the job is kept for later. Error route.overloaded.
  Result<Slot*> Enter(Job& job);
  // Gives it back, or takes the job that is to be run on it next.
  std::optional<Job> Leave(Slot* slot);

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
  const std::string name_;
  const RouteLimits limits_;
  const TaskMaker maker_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> slots_;  // under mutex_; those that were made
  std::vector<Slot*> free_;                   // under mutex_
  std::deque<Job> waiting_;                   // under mutex_
  uint64_t calls_ = 0;                        // under mutex_
  uint64_t failures_ = 0;                     // under mutex_
};

}  // namespace sluice::route
