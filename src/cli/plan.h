// What must change for a server to have what an app wants: computed first, shown, then done.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/api.h"
#include "cli/app_directory.h"
#include "cli/sql_files.h"

namespace sluice::cli {

struct Step {
  enum class Kind : uint8_t { kCreate, kAlter, kDrop };
  Kind kind = Kind::kCreate;
  std::string what;  // "collection shop.inventory.items (max_expiry 30d)"
  // The requests that do it, in order.
  std::vector<ApiRequest> requests;
  const FunctionSpec* function = nullptr;  // that it is about, for places in errors

  std::string ToString() const;  // "create collection ..."
};

struct Plan {
  std::vector<Step> steps;
  std::vector<SqlStep> sql;       // then
  std::vector<Step> functions;    // when the seeds are written
  std::vector<std::string> kept;  // what only --prune would drop
  // Of tables, triggers and the like, that only the user can resolve: each with its place.
  std::vector<std::string> differences;
  std::string flows;  // what happens to the app's flows, last of all; empty for nothing

  bool empty() const { return steps.empty() && sql.empty() && functions.empty() && flows.empty(); }
};

enum class Prune : uint8_t { kNo, kYes };

// Drops, when asked for, are limited to the buckets that the app names: what other buckets hold is
// not this app's.
Plan MakePlan(const KeyspacesSpec& wanted, const KeyspacesSpec& present, Prune prune);

// What the server has.
Result<KeyspacesSpec> FetchKeyspaces(Api* api);

}  // namespace sluice::cli
