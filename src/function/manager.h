// All functions of a server: their definitions, which rows of the meta family keep, and their runs.
//
// A function is undeployed, deployed or paused, as in Couchbase, or on its way to one of these
// states. The manager stores a change of state before it carries it out, and after a crash carries
// it out again: a deployed function without a follower gets one, an undeployed function with a
// follower loses it. What runs follows the rows, whoever writes them: a change stores the row and
// calls Refresh, and for rows that others write a thread does (db/row_refresher.h).
// A deployed function runs in the shards that the server owns (running.h).
// Concurrency: every method from any thread. While a function's state changes, other changes of it
// are refused (function.in_transition), but Undeploy ends an OnDeploy that runs.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/locked.h"
#include "base/mutex.h"
#include "base/status.h"
#include "db/row_refresher.h"
#include "db/row_watch.h"
#include "failure/failure_list.h"
#include "function/catalog_watch.h"
#include "function/definition.h"
#include "function/dispatcher.h"
#include "function/global_config.h"
#include "function/handler.h"
#include "function/log/function_log.h"
#include "function/recursion.h"
#include "function/running.h"
#include "function/statistics.h"
#include "timer/scheduler.h"

namespace sluice::function {

// The last four are on the way to another state.
enum class State : uint8_t {
  kUndeployed,
  kDeployed,
  kPaused,
  kDeploying,
  kUndeploying,
  kPausing,
  kResuming,
};
std::string_view StateName(State state);

struct FunctionStatus {
  std::shared_ptr<const Definition> definition;
  State state = State::kUndeployed;
  bool caught_up = false;
  std::string failure;  // why it stopped by itself; empty if it did not
};

struct TimerPage {
  std::vector<timer::Timer> timers;
  std::optional<timer::Moment> next;  // where the next page begins, if there are more
};

struct FailurePage {
  std::vector<failure::FailureList::Item> failures;
  std::optional<failure::FailureId> next;  // where the next page begins, if there are more
};

struct KeptFailure {
  failure::FailureList::Item item;
  std::string payload;
};

class DebugSession;

class Manager {
 public:
  explicit Manager(const Services& services);
  ~Manager();  // Stop

  // Loads the definitions and starts the deployed functions.
  Status Start();
  // Ends the handlers that run; no other one begins. Does not wait.
  void RequestStop();
  void Stop();

  // `name` is a function's location (Definition::Location) everywhere.

  // Creates or replaces a definition; the state stays. An undeployed function may change as a
  // whole, a paused one except for source, metadata keyspace and boundary, and a deployed one only
  // by the settings of OnlyDynamicChanges. A masked secret stands for the stored one.
  Status Store(Definition definition);
  // Checks the code before it is stored, unless the same code is stored already. Returns warnings,
  // a sentence each.
  Result<std::vector<std::string>> CheckStored(const Definition& definition);
  // The error that storing and deploying it would give now. Changes nothing, and runs no code but
  // the constants at its top level.
  Status Check(Definition definition);
  Result<Definition> Find(const std::string& name) const;
  // The error of every method that takes a name, when there is no such function.
  static Status NotFound(std::string_view name);
  std::vector<Definition> List() const;
  Status Remove(const std::string& name);  // must be undeployed

  Status Deploy(const std::string& name);  // resumes a paused one
  Status Undeploy(const std::string& name);
  Status Pause(const std::string& name);
  Status Resume(const std::string& name);
  // Calls the one of them that leads to the wanted state; OK when the function is in it already.
  Status SetState(const std::string& name, State wanted);

  GlobalConfig config() const;
  Status SetConfig(const json::Value& changes);

  Result<FunctionStatus> StatusOf(const std::string& name) const;
  std::vector<FunctionStatus> Statuses() const;
  // The newest records of its log (function/log/record.h), newest first, at most so many bytes.
  Result<std::vector<std::string>> Log(const std::string& name, size_t max_bytes) const;
  // Counts and last messages of each line of its code (function/insight.h). Calls are counted from
  // the first request on.
  Result<json::Value> InsightOf(const std::string& name);
  Result<json::Value> StatisticsOf(const std::string& name) const;
  // Where logs are files; empty when they are in memory.
  const std::filesystem::path& log_directory() const { return services_.log_directory; }
  Status ResetStatistics(const std::string& name);
  // Calls `visit` for every function, by name.
  void VisitStatistics(
      const std::function<void(const std::string& name, const Statistics&)>& visit) const;

  // Debugging, if the configuration allows it. A worker with an inspector handles the next event of
  // a deployed function, then the one after it, and so on until the debugger or the function is
  // stopped. One debugger at a time.
  Status StartDebugger(const std::string& name);
  Status StopDebugger(const std::string& name);  // OK when there is none
  // function.no_debugger when there is none.
  Result<std::shared_ptr<DebugSession>> DebuggerOf(const std::string& name) const;

  // Its timers in the order in which they are due, beginning with `from`.
  Result<TimerPage> Timers(const std::string& name, const timer::Moment& from, size_t limit) const;
  Status CancelTimer(const std::string& name, const std::string& callback,
                     const std::string& reference);
  // Makes a timer due now. The timer of a paused function runs when the function is resumed.
  Status FireTimer(const std::string& name, const std::string& callback,
                   const std::string& reference);
  // Call it after the clock was set, so that due timers are found at once, not within a second.
  void ClockWasSet() { timers_.Wake(); }

  // Its failed events, in the order of their first failures, beginning with `from`.
  Result<FailurePage> Failures(const std::string& name, const failure::FailureId& from,
                               size_t limit) const;
  Result<KeptFailure> FindFailure(const std::string& name, const failure::FailureId& id) const;
  // Runs failed events again now, or, if the function is paused, when it is resumed. Error when it
  // is undeployed. The second form takes all and returns their number.
  Status ReplayFailure(const std::string& name, const failure::FailureId& id);
  Result<uint64_t> ReplayFailures(const std::string& name);
  // `changes` is {"document": ...} or, for a timer, {"context": ...}.
  Status EditFailure(const std::string& name, const failure::FailureId& id,
                     const json::Value& changes);
  Status DropFailure(const std::string& name, const failure::FailureId& id);
  Result<uint64_t> DropFailures(const std::string& name);

 private:
  struct Function;
  class Change;
  class Passing;
  using FunctionPtr = std::shared_ptr<Function>;

  Result<FunctionPtr> Get(const std::string& name) const;
  std::map<std::string, FunctionPtr> All() const;
  Status Save(const Definition& definition);
  Status Replace(const FunctionPtr& function, Definition definition);
  // manager_refresh.cc
  Result<std::optional<Definition>> Stored(const std::string& name) const;
  // Makes the function what its row says, under its change lock. With `prepared` it was compiled
  // already, and is started also if the manager knows the row.
  Status Refresh(const FunctionPtr& function, const Prepared* prepared = nullptr);
  Status Adopt(const FunctionPtr& function, Definition definition, const Prepared* prepared);
  Status Forget(const FunctionPtr& function);
  Result<FunctionPtr> FindOrMake(const std::string& name);
  void OnRowChanged(const std::string& name);
  Status RefreshConfig(const std::optional<std::string>& row);
  Result<Prepared> CheckCode(const std::shared_ptr<const Definition>& definition);
  // Makes all checks that come before a run. With kDeploy it also notes where the function's writes
  // go, for the checks of other functions.
  enum class CheckFor : uint8_t { kDeploy, kAdvice };
  Result<Prepared> CheckDeployment(const std::shared_ptr<const Definition>& definition,
                                   CheckFor purpose = CheckFor::kDeploy);
  void NoteDataFlow(const Definition& definition);
  void ForgetDataFlow(const std::string& name);
  Status CheckRunning() const;
  Status ResumeLocked(const FunctionPtr& function);
  Status UndeployLocked(const FunctionPtr& function, const std::string& why);
  // Undeploys the functions that have lost a keyspace.
  void OnCatalogChanged();
  Status Run(const FunctionPtr& function, const Prepared& prepared);
  Status RunOnDeploy(const FunctionPtr& function, const Prepared& prepared,
                     std::string_view reason);
  bool HasFollower(const Definition& definition) const;
  Status EnsureFollower(const Definition& definition);
  // Has commits to the keyspaces of the follower wake the function.
  void WakeFor(Dispatcher& dispatcher, const std::string& follower);
  Status DropForgottenTimers();
  Status LoadFailures();
  Status DropForgottenFailures();
  // manager_holds.cc
  Result<json::Value> LoadCrashes();
  Status SaveCrashes(const json::Value& crashes);
  Status HoldFunctions();
  Status Hold(const FunctionPtr& function, const std::string& why);
  void HoldAll();
  Status Unhold(const std::string& name);
  // Removes the log files of functions that are gone; before any function runs.
  void DropForgottenLogs();
  Result<json::Value> CountFailures(const Function& function) const;
  // The function could not be started.
  void OnNotStarted(const FunctionPtr& function, const Status& status);
  // A function that runs can't go on in a shard.
  void OnFailed(const std::weak_ptr<Function>& function, db::ShardId shard, const Status& status);
  void StopDispatcher(Function& function);
  // Of an owner, in the shards that the server owns. The owners of the other shards drop the rest
  // when they hear of the change.
  Status DropTimers(const std::string& owner);
  Status DropFailuresOf(const std::string& owner);

  const Services services_;
  timer::Scheduler timers_;
  FunctionLogs logs_;
  follow::CommitWake commits_;

  std::atomic<bool> stopping_ = false;
  Running running_;
  Locked<std::map<std::string, FunctionPtr>> functions_;  // by location
  Locked<std::map<std::string, DataFlow>> data_flows_;  // of deployed and paused ones, by location
  Locked<GlobalConfig> config_;
  // Held while a row that all functions share is read, changed and committed.
  Mutex shared_rows_mutex_;
  db::RowWatch config_watch_;
  std::unique_ptr<db::RowRefresher> refresher_;
  std::unique_ptr<CatalogWatch> watch_;
};

}  // namespace sluice::function
