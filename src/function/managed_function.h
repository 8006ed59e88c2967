// One function as the manager keeps it. Only the .cc files of the manager include this.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/locked.h"
#include "base/mutex.h"
#include "function/debug_session.h"
#include "function/manager.h"

namespace sluice::function {

// The prefix of the meta rows that hold definitions.
inline constexpr std::string_view kDefinitionRows = "function/";
// The row of the configuration of all functions.
inline constexpr std::string_view kConfigRow = "functions/config";

// The error of a change that the state does not allow. `id` is the rule; all rules share a message.
Status WrongState(std::string_view id, const std::string& name, State state,
                  std::string_view wanted);
// {"caught_up", "commits_behind"} of a function that runs: the number of commits in the logs of the
// shards that it has not handled yet. While it still reads the documents that existed when it was
// deployed, "reads_documents" is true instead.
json::Value LagOf(const db::Database& database, const std::set<db::ShardId>& shards,
                  const Definition& definition, bool caught_up);
State StateOf(const Settings& settings);

// Holds a function's change lock until its end.
class Manager::Change {
 public:
  explicit Change(Mutex& held) : mutex_(&held) {}
  Change(Change&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
  Change& operator=(Change&&) = delete;
  ~Change() NO_THREAD_SAFETY_ANALYSIS {  // it does not follow pointers
    if (mutex_ != nullptr) mutex_->Unlock();
  }

 private:
  Mutex* mutex_;
};

struct Manager::Function {
  // The part that changes while other threads look at it.
  struct Live {
    std::shared_ptr<const Definition> definition;
    std::shared_ptr<Dispatcher> dispatcher;  // null unless the function runs
    std::shared_ptr<DebugSession> debugger;  // the last one that was started
    std::string failure;                     // why the function stopped by itself
    std::optional<State> passing;            // the state on the way, while the state changes
    // Of the OnDeploy that runs, or ran last.
    script::StopFlag stop_deploying = std::make_shared<std::atomic<bool>>(false);
  };

  Mutex change;                       // held while definition or state are changed
  std::atomic<bool> removed = false;  // no longer in the list; set under `change`
  // The server was started with functions.hold: it does not run here though its row says so. Under
  // `change`.
  bool held_here = false;
  Locked<Live> live;
  Statistics statistics;
  const std::unique_ptr<failure::FailureList> failures;
  const std::shared_ptr<FunctionLog> log;
  Insight insight;

  Function(db::Database& database, FunctionLogs& logs, Definition definition)
      : failures(std::make_unique<failure::FailureList>(database,
                                                        FailuresOwnerOf(definition.Location()))),
        log(logs.Of(definition.Location())) {
    SetDefinition(std::move(definition));
  }

  std::shared_ptr<const Definition> current() const { return live.Lock()->definition; }
  State state() const { return StateOf(current()->settings); }
  void SetDefinition(Definition next) {
    auto definition = std::make_shared<const Definition>(std::move(next));
    live.Lock()->definition.swap(definition);
  }

  std::shared_ptr<Dispatcher> dispatcher() const { return live.Lock()->dispatcher; }
  // The caller stops it.
  std::shared_ptr<Dispatcher> TakeDispatcher() {
    return std::exchange(live.Lock()->dispatcher, nullptr);
  }

  void SetFailure(std::string why) { live.Lock()->failure.swap(why); }

  // Waits for the change lock.
  Change AwaitChange();
  // The same, but error function.in_transition while the state changes.
  Result<Change> BeginChange();
  // Ends the OnDeploy of a function that is on its way to run, and returns true then.
  bool StopOnDeploy() {
    const auto now = live.Lock();
    if (now->passing != State::kDeploying && now->passing != State::kResuming) return false;
    *now->stop_deploying = true;
    return true;
  }
  script::StopFlag deploying_stop() const { return live.Lock()->stop_deploying; }
};

// Marks the function as on its way to another state, for as long as this object lives.
class Manager::Passing {
 public:
  Passing(const Services& services, Function& function, State state)
      : services_(services), function_(function) {
    Set(state);
  }
  ~Passing() { Set(std::nullopt); }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;

 private:
  void Set(std::optional<State> state) {
    {
      const auto live = function_.live.Lock();
      live->passing = state;
      if (state) live->stop_deploying = std::make_shared<std::atomic<bool>>(false);
    }
    services_.Progressed();
  }
  const Services& services_;
  Function& function_;
};

}  // namespace sluice::function
