// Requests of user code to start a flow: rows of the `run` family (docs/formats/runs.md), written
// in the commit of the code that asks, so that the flow starts if and only if that commit succeeds.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "json/value.h"

namespace sluice::outbox {

inline constexpr std::string_view kFlowRequestPrefix = "q";
inline constexpr size_t kMaxFlowRequestBytes = 8ull << 20;

struct FlowRequest {
  std::string run;  // the id that the run will have
  std::string flow;
  json::Value input;  // the dataset
  std::string trace;  // traceparent of the code that asks; empty without a trace
};

// A UUID of version 7: newer ones sort after older ones. A run lives in its id's shard
// (db::ShardOfKey); the second one is of this shard.
std::string NewRunId(uint64_t now_ms);
std::string NewRunId(const db::Database& database, db::ShardId shard);

// The row of a new request, whose run's id goes to `run`. It belongs to the shard of its commit.
// Errors flow.bad_input, flow.too_large.
Result<db::RowWrite> MakeFlowRequest(db::Database& database, std::string flow, json::Value input,
                                     std::string* run);
Result<FlowRequest> DecodeFlowRequest(std::string_view stored);

bool HasFlowRequest(const db::Commit& commit);
// Gives the requests in a commit a trace.
Status SetFlowRequestTrace(const std::string& trace, db::Commit* commit);

// Grows with every request of this process; the flow engine then looks for new rows.
inline std::atomic<uint64_t> flow_requests_made{0};

}  // namespace sluice::outbox
