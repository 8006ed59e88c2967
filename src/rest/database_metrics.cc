#include "rest/database_metrics.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "db/catalog.h"
#include "rest/metrics.h"

namespace sluice::rest {
namespace {

constexpr size_t kMaxFollowersShown = 200;

using ShardNumber = std::function<uint64_t(const db::ShardStats&)>;

void AppendByShard(const db::DatabaseStats& stats, std::string_view name, MetricType type,
                   std::string_view help, const ShardNumber& number, std::string* out) {
  AppendMetricHead(name, type, help, out);
  for (size_t shard = 0; shard < stats.shards.size(); ++shard) {
    AppendSample(name, fmt::format(R"({{shard="{}"}})", shard), number(stats.shards[shard]), out);
  }
}

void AppendShards(const db::DatabaseStats& stats, std::string* out) {
  using S = db::ShardStats;
  constexpr MetricType kCounter = MetricType::kCounter;
  constexpr MetricType kGauge = MetricType::kGauge;
  AppendByShard(
      stats, "sluice_shard_sequence", kGauge, "Number of the shard's last commit.",
      [](const S& s) { return s.sequence; }, out);
  AppendByShard(
      stats, "sluice_commits_total", kCounter, "Commits made durable.",
      [](const S& s) { return s.commits; }, out);
  AppendByShard(
      stats, "sluice_commit_groups_total", kCounter,
      "Groups of commits, each made durable at once.", [](const S& s) { return s.groups; }, out);
  AppendByShard(
      stats, "sluice_commits_rejected_total", kCounter,
      "Commits refused because a precondition did not hold.", [](const S& s) { return s.rejected; },
      out);
  AppendByShard(
      stats, "sluice_document_writes_total", kCounter, "Documents written or deleted.",
      [](const S& s) { return s.writes; }, out);
  AppendByShard(
      stats, "sluice_commit_queue_length", kGauge, "Commits that wait for their group.",
      [](const S& s) { return s.queued; }, out);
  AppendMetricHead("sluice_sync_seconds_total", kCounter, "Time spent making groups durable.", out);
  for (size_t shard = 0; shard < stats.shards.size(); ++shard) {
    AppendSample("sluice_sync_seconds_total", fmt::format(R"({{shard="{}"}})", shard),
                 static_cast<double>(stats.shards[shard].sync_ns) / 1e9, out);
  }
}

void AppendOne(std::string_view name, MetricType type, std::string_view help, uint64_t value,
               std::string* out) {
  AppendMetricHead(name, type, help, out);
  AppendSample(name, "", value, out);
}

void AppendStore(const db::DatabaseStats& stats, std::string* out) {
  AppendMetricHead("sluice_store_bytes", MetricType::kGauge, "Size of the store by place.", out);
  AppendSample("sluice_store_bytes", R"({place="files"})", stats.store.sst_bytes, out);
  AppendSample("sluice_store_bytes", R"({place="memtables"})", stats.store.memtable_bytes, out);
  AppendSample("sluice_store_bytes", R"({place="cache"})", stats.store.cache_bytes, out);
  AppendOne("sluice_store_pending_compaction_bytes", MetricType::kGauge,
            "Bytes that compaction still has to rewrite.", stats.store.pending_compaction_bytes,
            out);
  AppendOne("sluice_store_read_only", MetricType::kGauge, "1 after a write failed.",
            stats.read_only ? 1 : 0, out);
  AppendOne("sluice_documents_expired_total", MetricType::kCounter,
            "Documents deleted because they expired.", stats.expired, out);
}

// How far the lane that is furthest behind has to go.
uint64_t LagOf(const db::Database& database, const db::FollowerInfo& follower, db::ShardId shard) {
  const db::Sequence last = database.followers().LastSequence(shard);
  uint64_t lag = 0;
  for (uint16_t lane = 0; lane < follower.lanes; ++lane) {
    const Result<db::CursorState> cursor =
        database.followers().ReadCursor({follower.name, shard, lane});
    if (!cursor || cursor->position.sequence >= last) continue;
    lag = std::max(lag, last - cursor->position.sequence);
  }
  return lag;
}

void AppendFollowers(const db::Database& database, std::string* out) {
  AppendMetricHead("sluice_follower_lag_commits", MetricType::kGauge,
                   "Commits between a follower's last cursor and the log's end.", out);
  const auto catalog = database.catalog();
  size_t shown = 0;
  for (const auto& [name, follower] : catalog->followers()) {
    if (++shown > kMaxFollowersShown) return;
    for (uint16_t shard = 0; shard < database.shard_count(); ++shard) {
      AppendSample("sluice_follower_lag_commits",
                   fmt::format(R"({{follower="{}",shard="{}"}})", EscapedLabel(name), shard),
                   LagOf(database, follower, shard), out);
    }
  }
}

}  // namespace

void AppendDatabaseMetrics(const db::Database& database, std::string* out) {
  const db::DatabaseStats stats = database.operations().Stats();
  AppendShards(stats, out);
  AppendStore(stats, out);
  AppendFollowers(database, out);
}

}  // namespace sluice::rest
