// A run in memory.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flow_engine/engine.h"

namespace sluice::flow_engine {

// An event of a durable run that is to become a step.
struct Engine::Pending {
  flow::Event event;
  Ran ran = {};
  db::Commit commit = {};               // what the function has written
  std::optional<flow::Call> call = {};  // that wrote it; called again after a conflict
  int attempt = 1;                      // of this call
  // Told at the end, under the mutex; null: there is no step.
  std::function<void(flow::Actions*)> stored = {};
  bool again = false;        // stores the run as it is, because that failed
  flow::Actions later = {};  // to be done then
};

struct Engine::Instance : std::enable_shared_from_this<Engine::Instance> {
  Instance(std::shared_ptr<const App> of, std::string run_id, ReplyTo to)
      : app(std::move(of)),
        id(std::move(run_id)),
        run(app->flows, app->files.get()),
        reply(std::move(to)) {}

  // A function that runs for it.
  struct Running {
    uint64_t call = 0;
    TaskInstance* task = nullptr;
    std::shared_ptr<std::atomic<bool>> cancelled;
  };
  // What is stored of a durable run, and what is about to be.
  struct Stored {
    bool busy = false;            // a step is being stored that others have to wait for
    bool first = true;            // nothing was stored, or is about to be
    bool lost_rows = false;       // rows but the machine may not be stored
    bool parked = false;          // it has left the memory, and does nothing any more
    std::deque<Pending> waiting;  // for the next one
    RunHead head;
    RunMachine machine;                    // its text is empty until the first step
    json::Value input;                     // that has a row of its own; else missing
    std::map<uint64_t, uint64_t> sent_ms;  // by call
    std::vector<db::RowWrite> kept_back;   // steps that are stored with the next one
    uint64_t hold_until_ms = 0;            // 0: nothing is held, all is on its way to the disk
    std::atomic<int> ahead{0};             // steps that were made and are not stored yet
    std::atomic<bool> wants_park{false};   // when these are
    int held = 0;                          // by who is about to cancel it; under live_mutex_
  };

  const std::shared_ptr<const App> app;
  const std::string id;
  std::string cid;       // of who asked; set before others see it
  std::string trace_id;  // empty when it is not told
  std::mutex mutex;
  flow::Run run;                         // under mutex
  ReplyTo reply;                         // taken by the step that answers, under mutex
  uint64_t answer_by_ms = 0;             // who started a durable run waits so long; under mutex
  std::vector<Running> running;          // under mutex
  uint64_t scheduled_ms = 0;             // what due_ms was last set to; under mutex
  uint64_t stepped_ms = 0;               // when the last step was; under mutex
  std::shared_ptr<RunTrace> trace;       // null when there is none; its spans are under mutex
  std::unique_ptr<Stored> stored;        // of a durable run; what it points to is under mutex
  const flow::Flow* listened = nullptr;  // its flow, if somebody is told of its end
  TracePtr finished;                     // for whom; under mutex
  // Under timer_mutex_: its place among the timers; 0 when it has none.
  uint64_t due_ms = 0;

  std::shared_ptr<StreamScope> given_streams;  // by who started it; null: own_streams
  StreamScope own_streams;

  bool durable() const { return stored != nullptr; }
  std::shared_ptr<StreamScope> streams() {
    return given_streams != nullptr
               ? given_streams
               : std::shared_ptr<StreamScope>(shared_from_this(), &own_streams);
  }
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

}  // namespace sluice::flow_engine
