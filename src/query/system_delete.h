// DELETE FROM system:active_requests, system:completed_requests and system:prepareds: how clients
// of Couchbase cancel statements and have others forgotten.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "query/engine.h"

namespace sluice::query {

struct SystemDelete {
  std::string keyspace;  // "active_requests", for example
  std::string select;    // a SELECT that gives the ids of the rows to remove
};

// The statement as such a DELETE; nothing for any other. Error 4000 for one that can't be done.
Result<std::optional<SystemDelete>> AsSystemDelete(std::string_view statement);

// Runs on the first Next: calls `remove` with the id of each row that `select` gives; `remove`
// returns whether it removed the row.
std::unique_ptr<Run> MakeSystemDeleteRun(std::unique_ptr<Run> select,
                                         std::function<bool(const std::string& id)> remove);

}  // namespace sluice::query
