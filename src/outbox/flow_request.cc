#include "outbox/flow_request.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "base/random.h"
#include "db/catalog_rows.h"
#include "json/print.h"

namespace sluice::outbox {

using json::Value;

std::string NewRunId(uint64_t now_ms) {
  std::string time;
  AppendU64(&time, now_ms);
  const std::string digits = ToHex(std::string_view(time).substr(2));
  std::string id = NewUuid();
  id.replace(0, 8, digits, 0, 8);
  id.replace(9, 4, digits, 8, 4);
  id[14] = '7';
  return id;
}

std::string NewRunId(const db::Database& database, db::ShardId shard) {
  CHECK(shard < database.shard_count());
  return NewRunId(database, database.clock().WallMs(), {shard});
}

std::string NewRunId(const db::Database& database, uint64_t now_ms,
                     const std::set<db::ShardId>& shards) {
  CHECK(!shards.empty());
  std::string id = NewRunId(now_ms);
  if (shards.size() >= database.shard_count()) return id;
  while (!shards.contains(database.ShardOfKey(id))) id = NewRunId(now_ms);
  return id;
}

namespace {

std::string IdOfRequested(const db::Database& database, std::optional<db::ShardId> shard) {
  if (shard) return NewRunId(database, *shard);
  const std::set<db::ShardId> owned = database.ownership().owned();
  const uint64_t now_ms = database.clock().WallMs();
  return owned.empty() ? NewRunId(now_ms) : NewRunId(database, now_ms, owned);
}

// In a row's key, so that later ones sort after earlier ones.
std::string StampText(db::Cas stamp) {
  std::string bytes;
  AppendU64(&bytes, stamp);
  return ToHex(bytes);
}

}  // namespace

Result<db::RowWrite> MakeFlowRequest(db::Database& database, std::string flow, Value input,
                                     std::string* run, std::optional<db::ShardId> shard) {
  if (input.is_missing() || input.is_null()) input = Value::EmptyObject();
  if (!input.is_object()) {
    return Fail(Code::kInvalidArgument, "flow.bad_input",
                "expected an object such as {{\"body\": ..., \"header\": ...}}");
  }
  *run = IdOfRequested(database, shard);
  std::string row = db::EncodeMetaJson(
      Value::Object({{"run", *run}, {"flow", std::move(flow)}, {"input", std::move(input)}}));
  if (row.size() > kMaxFlowRequestBytes) {
    return Fail(Code::kTooLarge, "flow.too_large",
                "the input of a flow that is started by code may have {} bytes as JSON, this one "
                "has {}",
                kMaxFlowRequestBytes, row.size());
  }
  return db::RowWrite{db::RowFamily::kMeta, std::nullopt,
                      std::string(kFlowRequestPrefix) + StampText(database.NewCas()),
                      std::move(row), std::nullopt};
}

Result<FlowRequest> DecodeFlowRequest(std::string_view stored) {
  ASSIGN_OR_RETURN(const Value value, db::DecodeMetaJson("flow request", stored));
  if (!value["run"].is_string() || !value["flow"].is_string()) {
    return Fail(Code::kCorruption, "flow.bad_state", "a stored request for a flow is malformed");
  }
  return FlowRequest{std::string(value["run"].AsString()), std::string(value["flow"].AsString()),
                     value["input"],
                     value["trace"].is_string() ? std::string(value["trace"].AsString()) : ""};
}

namespace {

bool IsFlowRequest(const db::RowWrite& row) {
  return row.family == db::RowFamily::kMeta && row.key.starts_with(kFlowRequestPrefix) &&
         row.value.has_value();
}

}  // namespace

bool HasFlowRequest(const db::Commit& commit) {
  return std::ranges::any_of(commit.rows, IsFlowRequest);
}

bool NamesFlowRequest(std::span<const std::string> meta_keys) {
  return std::ranges::any_of(
      meta_keys, [](const std::string& key) { return key.starts_with(kFlowRequestPrefix); });
}

Status SetFlowRequestTrace(const std::string& trace, db::Commit* commit) {
  for (db::RowWrite& row : commit->rows) {
    if (!IsFlowRequest(row)) continue;
    ASSIGN_OR_RETURN(Value value, db::DecodeMetaJson("flow request", *row.value));
    value.Set("trace", Value(trace));
    row.value = db::EncodeMetaJson(value);
  }
  return OkStatus();
}

}  // namespace sluice::outbox
