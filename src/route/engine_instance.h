// A run in memory.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "route/engine.h"

namespace sluice::route {

struct Engine::Instance : std::enable_shared_from_this<Engine::Instance> {
  Instance(std::shared_ptr<const App> of, std::string run_id, ReplyTo to)
      : app(std::move(of)),
        id(std::move(run_id)),
        run(app->flows, app->files.get()),
        reply(std::move(to)) {}

  // A function that runs for it.
  struct Running {
    TaskInstance* task = nullptr;
    std::shared_ptr<std::atomic<bool>> cancelled;
  };
  // What is stored of a durable run.
  struct Stored {
    RunHead head;
    RunMachine machine;                    // its text is empty until the run has been stored
    std::map<uint64_t, uint64_t> sent_ms;  // by call
  };

  const std::shared_ptr<const App> app;
  const std::string id;
  std::mutex mutex;
  flow::Run run;                        // under mutex
  ReplyTo reply;                        // taken by the step that answers, under mutex
  std::map<uint64_t, Running> running;  // by call, under mutex
  std::unique_ptr<Stored> stored;       // of a durable run; what it points to is under mutex
  // Under timer_mutex_: its place among the timers; 0 when it has none.
  uint64_t due_ms = 0;

  bool durable() const { return stored != nullptr; }
};

// A step that was made and is not stored yet.
struct Engine::Move {
  flow::Run next;
  flow::Actions actions;
  RunHead head;
  RunMachine machine;
  std::vector<RunStep> steps;
  uint64_t now_ms = 0;
  bool taken = true;     // the answer was still waited for
  bool changed = false;  // there is something to store
};

}  // namespace sluice::route
