// Has a module look again at its rows of the meta family that were changed, whoever did it, on a
// thread of its own: for modules that compile scripts, start threads or commit then. What needs
// none of that uses RowWatch (row_watch.h).
//
// Operation: after Start it calls `refresh` for each row that was changed since the constructor,
// soon after the change; one call may stand for several changes. The module's own changes call the
// same function after their commits, so that they have taken effect when they return, and the call
// that comes from here finds nothing to do. Hence the function compares the row with what the
// module has, under the lock that the module holds for a change.
// Concurrency: any thread; the destructor waits for a call that runs.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/locked.h"
#include "base/signal.h"
#include "base/thread.h"
#include "db/database.h"

namespace sluice::db {

class RowRefresher {
 public:
  // `name` is the row's key without the prefix.
  using Refresh = std::function<void(const std::string& name)>;

  // `module` names the thread.
  RowRefresher(Database& database, const std::string& prefix, std::string module, Refresh refresh);
  ~RowRefresher();
  RowRefresher(const RowRefresher&) = delete;
  RowRefresher& operator=(const RowRefresher&) = delete;

  void Start();

 private:
  void Loop();

  const std::string module_;
  const Refresh refresh_;
  Locked<std::set<std::string>> changed_;  // names
  Signal wake_;                            // closed when the thread must end
  std::shared_ptr<void> subscription_;
  Thread thread_;
};

}  // namespace sluice::db
