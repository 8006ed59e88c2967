// What system:keyspaces and its like hold: rows made when a statement asks for them, of what its
// user may see.
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
  std::vector<Value> users;                                   // such rows, of all whom one may see
  Value node;                                                 // the row of system:nodes
};

// Of system:<name>, as Couchbase has it. Error 12003 for a name that there is not.
Result<std::vector<Value>> SystemRows(const SystemView& view, std::string_view name);

}  // namespace sluice::query
