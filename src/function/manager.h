// All functions of a server: their definitions, kept in the meta family, and those that run.
//
// States as in Couchbase: undeployed, deployed, paused, and one in between while something is under
// way. A change of state is stored before it is carried out, so that after a crash it is carried
// out again: a deployed function without its follower gets one, an undeployed one with a follower
// loses it.
// Concurrency: every method from any thread; changes of one function follow each other.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "function/definition.h"
#include "function/dispatcher.h"
#include "function/handler.h"
#include "function/statistics.h"

namespace sluice::function {

enum class State : uint8_t { kUndeployed, kDeployed, kPaused };
std::string_view StateName(State state);

struct FunctionStatus {
  std::string name;
  State state = State::kUndeployed;
  bool caught_up = false;
  std::string failure;  // why it stopped by itself, if it did
};

class Manager {
 public:
  explicit Manager(const Services& services);
  ~Manager();  // Stop

  // Loads the definitions and starts what is deployed.
  Status Start();
  void Stop();

  // Creates or replaces. The code of a deployed function can't be changed.
  Status Store(Definition definition);
  Result<Definition> Find(const std::string& name) const;
  std::vector<Definition> List() const;
  Status Remove(const std::string& name);  // must be undeployed

  Status Deploy(const std::string& name);
  Status Undeploy(const std::string& name);
  Status Pause(const std::string& name);
  Status Resume(const std::string& name);

  Result<FunctionStatus> StatusOf(const std::string& name) const;
  std::vector<FunctionStatus> Statuses() const;
  // The newest lines of its log, oldest first.
  Result<std::vector<std::string>> Log(const std::string& name) const;
  Result<json::Value> StatisticsOf(const std::string& name) const;

 private:
  struct Function;
  using FunctionPtr = std::shared_ptr<Function>;

  Result<FunctionPtr> Get(const std::string& name) const;
  Status Save(const Definition& definition);
  Result<Prepared> CheckCode(const FunctionPtr& function);
  Status Run(const FunctionPtr& function, const Prepared& prepared);
  Status RunOnDeploy(const FunctionPtr& function, const Prepared& prepared,
                     std::string_view reason);
  Status EnsureFollower(const Definition& definition, db::KeyspaceId source);
  void OnCommitted(const db::Committed& committed);
  void OnFailed(const std::weak_ptr<Function>& function, const Status& status);

  const Services services_;
  std::vector<std::shared_ptr<void>> listeners_;

  mutable std::mutex mutex_;
  std::map<std::string, FunctionPtr> functions_;  // guarded by mutex_
  // Who is to be woken for a keyspace. Read by the committer's thread.
  std::mutex routes_mutex_;
  std::multimap<db::KeyspaceId, std::weak_ptr<Dispatcher>> routes_;  // guarded by routes_mutex_
};

}  // namespace sluice::function
