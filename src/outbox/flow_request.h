// Requests of user code to start a flow: rows (docs/formats/runs.md) that are written in the commit
// of the code that asks, so that the flow starts if and only if that commit succeeds. They are of
// the `meta` family, because listeners hear which of its rows a group has changed. A key has a
// stamp of the database's clock, so keys are unique, and the requests of a shard are in the order
// in which they were made, whoever owned the shard then.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "json/value.h"

namespace sluice::outbox {

inline constexpr std::string_view kFlowRequestPrefix = "flow_request/";
// Of the family `run`: the requests of earlier servers.
inline constexpr std::string_view kOldFlowRequestPrefix = "q";
inline constexpr size_t kMaxFlowRequestBytes = 8ull << 20;

struct FlowRequest {
  std::string run;  // the id that the run will have
  std::string flow;
  json::Value input;  // the dataset
  std::string trace;  // traceparent of the code that asks; empty without a trace
};

// A UUID of version 7: newer ones sort after older ones. A run lives in its id's shard
// (db::ShardOfKey); the others are of this shard, or of one of these, which are not empty.
std::string NewRunId(uint64_t now_ms);
std::string NewRunId(const db::Database& database, db::ShardId shard);
std::string NewRunId(const db::Database& database, uint64_t now_ms,
                     const std::set<db::ShardId>& shards);

// The row of a new request, whose run's id goes to `run`. It belongs to the shard of its commit.
// Whoever knows that shard says so: then the run is of the same shard, and one commit begins the
// run and removes the request. Else the run is of some shard that this server owns. Errors
// flow.bad_input, flow.too_large.
Result<db::RowWrite> MakeFlowRequest(db::Database& database, std::string flow, json::Value input,
                                     std::string* run,
                                     std::optional<db::ShardId> shard = std::nullopt);
Result<FlowRequest> DecodeFlowRequest(std::string_view stored);

bool HasFlowRequest(const db::Commit& commit);
// Whether there are requests among rows of `meta` (Committed::meta_keys).
bool NamesFlowRequest(std::span<const std::string> meta_keys);
// Gives the requests in a commit a trace.
Status SetFlowRequestTrace(const std::string& trace, db::Commit* commit);

}  // namespace sluice::outbox
