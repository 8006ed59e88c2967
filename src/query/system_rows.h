// The rows of system:keyspaces and similar: made when a statement reads them, with only the things
// that its user may see.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "query/active_requests.h"
#include "query/completed_requests.h"
#include "query/engine.h"

namespace sluice::query {

struct SystemView {
  const QueryEngine& engine;
  const ActiveRequests& active;
  const CompletedRequests& completed;
  uint64_t now_ms = 0;
  std::function<bool(std::string_view bucket)> sees_bucket;
  std::function<bool(const std::string& user)> sees_request;  // of that user
  Value me;                                                   // the row of system:my_user_info
  std::vector<Value> users;  // rows of all users that the user may see
  Value node;                // the row of system:nodes
};

// The rows of system:<name>, as in Couchbase. Error 12003 for an unknown name.
Result<std::vector<Value>> SystemRows(const SystemView& view, std::string_view name);

}  // namespace sluice::query
