// What a module has in memory of its rows of the meta family follows the rows, whoever writes them:
//
//   watch_(database, kUserPrefix,
//          [this](const std::string& name, const std::optional<std::string>& value) {
//            return Refresh(name, value);
//          })
//   RETURN_IF_ERROR(watch_.Load());
//
// Operation: Load passes all rows on. Each group of commits that changes such rows passes them on
// as they are after the group, before its writers get their answers. So a thread whose commit has
// returned finds the module as its rows say, and updates nothing itself.
// Concurrency: one call of the refresh at a time, on the committer's thread or, in Load, on the
// caller's. It must be short: no scripts are compiled there (use RowRefresher, row_refresher.h). It
// takes leaf locks only, because others are held by threads that wait for the committer. It must
// not end the watch, whose end waits for a call that runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"

namespace sluice::db {

// Calls `changed` on the committer's thread with the keys that begin with `prefix`, after each
// group that changed such rows of the meta family, until the caller lets go of the token. It must
// only post. The token may outlive the database.
using KeysListener = std::function<void(std::span<const std::string> keys)>;
[[nodiscard]] std::shared_ptr<void> WatchMetaKeys(Database& database, std::string prefix,
                                                  KeysListener changed);

class RowWatch {
 public:
  // `name` is the row's key without the prefix; there is no value when the row is gone. An error
  // ends Load. Later ones are logged, and the module keeps what it has.
  using Refresh =
      std::function<Status(const std::string& name, const std::optional<std::string>& value)>;

  // Calls may come from here on, so it is the last of a module's members, or all that it needs come
  // before it. The database must outlive it.
  RowWatch(Database& database, std::string prefix, Refresh refresh);
  RowWatch(const RowWatch&) = delete;
  RowWatch& operator=(const RowWatch&) = delete;

  Status Load();

 private:
  void Changed(std::span<const std::string> keys);

  Database& database_;
  const std::string prefix_;
  const Refresh refresh_;
  Mutex mutex_;  // one refresh at a time, from reading the row to the end of the call
  std::shared_ptr<void> subscription_;
};

}  // namespace sluice::db
