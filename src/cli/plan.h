// The changes that make a server match an app. They are computed first, then shown, then made.
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
  std::vector<std::string> kept;  // things that only --prune would drop
  // Differences of tables, triggers and the like that only the user can resolve, each with its
  // place.
  std::vector<std::string> differences;
  std::string flows;  // the change of the app's flows, which comes last; empty for none

  bool empty() const { return steps.empty() && sql.empty() && functions.empty() && flows.empty(); }
};

enum class Prune : uint8_t { kNo, kYes };

// With pruning, only things in the buckets of the app are dropped: other buckets do not belong to
// the app.
Plan MakePlan(const KeyspacesSpec& wanted, const KeyspacesSpec& present, Prune prune);

// Reads the keyspaces of the server.
Result<KeyspacesSpec> FetchKeyspaces(Api* api);

}  // namespace sluice::cli
