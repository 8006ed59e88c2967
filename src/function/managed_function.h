// What the manager keeps of one function; included by its parts only.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "function/debug_session.h"
#include "function/manager.h"

namespace sluice::function {

// Of the meta rows that hold definitions.
inline constexpr std::string_view kDefinitionRows = "function/";

// `id` says which rule it is; the message is the same for all.
Status WrongState(std::string_view id, const std::string& name, State state,
                  std::string_view wanted);
// {"caught_up", "commits_behind"} of a function that runs: how much of the log it has still to read
// and handle. While it reads what was there when it was deployed, "reads_documents" is true
// instead.
json::Value LagOf(const db::Database& database, const Definition& definition, bool caught_up);
State StateOf(const Settings& settings);

struct Manager::Function {
  std::mutex change;     // held while its state is changed
  bool removed = false;  // guarded by change: no longer in the list

  mutable std::mutex mutex;
  std::shared_ptr<const Definition> definition;  // guarded by mutex
  std::shared_ptr<Dispatcher> dispatcher;        // guarded by mutex; null unless it runs
  std::shared_ptr<DebugSession> debugger;        // guarded by mutex; the last one started
  std::string failure;                           // guarded by mutex
  std::optional<State> passing;                  // guarded by mutex; the state on the way
  // Of the OnDeploy that runs, or ran last; guarded by mutex.
  script::StopFlag stop_deploying = std::make_shared<std::atomic<bool>>(false);
  Statistics statistics;
  const std::unique_ptr<failure::FailureList> failures;
  const std::shared_ptr<FunctionLog> log;
  Insight insight;

  // `location` is what it is called among all functions.
  Function(db::Database& database, FunctionLogs& logs, const std::string& location)
      : failures(std::make_unique<failure::FailureList>(database, FailuresOwnerOf(location))),
        log(logs.Of(location)) {}

  std::shared_ptr<const Definition> current() const {
    const std::lock_guard lock(mutex);
    return definition;
  }
  State state() const { return StateOf(current()->settings); }

  // The change lock. Error function.in_transition while its state changes.
  Result<std::unique_lock<std::mutex>> BeginChange();
  // True when it is on its way to run: that ends then.
  bool StopOnDeploy() {
    const std::lock_guard lock(mutex);
    if (passing != State::kDeploying && passing != State::kResuming) return false;
    *stop_deploying = true;
    return true;
  }
  script::StopFlag deploying_stop() const {
    const std::lock_guard lock(mutex);
    return stop_deploying;
  }
};

// While it lives, the function is on its way to another state.
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
      const std::lock_guard lock(function_.mutex);
      function_.passing = state;
      if (state) function_.stop_deploying = std::make_shared<std::atomic<bool>>(false);
    }
    services_.Progressed();
  }
  const Services& services_;
  Function& function_;
};

}  // namespace sluice::function
