// What the manager keeps of one function; included by its parts only.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "function/debug_session.h"
#include "function/manager.h"

namespace sluice::function {

// Of the meta rows that hold definitions.
inline constexpr std::string_view kDefinitionRows = "function/";

// `id` says which rule it is; the message is the same for all.
Status WrongState(std::string_view id, const std::string& name, State state,
                  std::string_view wanted);
State StateOf(const Settings& settings);

struct Manager::Function {
  std::mutex change;     // held while its state is changed
  bool removed = false;  // guarded by change: no longer in the list

  mutable std::mutex mutex;
  std::shared_ptr<const Definition> definition;  // guarded by mutex
  std::shared_ptr<Dispatcher> dispatcher;        // guarded by mutex; null unless it runs
  std::shared_ptr<DebugSession> debugger;        // guarded by mutex; the last one started
  std::string failure;                           // guarded by mutex
  Statistics statistics;
  const std::unique_ptr<queue::FailureList> failures;
  const std::shared_ptr<FunctionLog> log;
  Insight insight;

  // `location` is what it is called among all functions.
  Function(db::Database& database, FunctionLogs& logs, const std::string& location)
      : failures(std::make_unique<queue::FailureList>(database, FailuresOwnerOf(location))),
        log(logs.Of(location)) {}

  std::shared_ptr<const Definition> current() const {
    const std::lock_guard lock(mutex);
    return definition;
  }
  State state() const { return StateOf(current()->settings); }
};

}  // namespace sluice::function
