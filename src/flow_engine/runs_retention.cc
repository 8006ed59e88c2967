// Finished runs, and apps that no run needs, are removed in time.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "flow_engine/runs.h"

namespace sluice::flow_engine {
namespace {

using Family = db::RowFamily;

constexpr size_t kRowsPerCommit = 5000;
constexpr std::chrono::seconds kInterval(5);
constexpr int kMostSkipped = 12;

void AddRemoval(const RunHead& head, db::Commit* commit) {
  const auto remove = [&](std::string key) {
    commit->rows.push_back(RunRow(std::move(key), std::nullopt));
  };
  remove(HeadKey(head.id));
  remove(MachineKey(head.id));
  const uint32_t first = head.steps > kMaxKeptSteps ? head.steps - kMaxKeptSteps + 1 : 1;
  for (uint32_t step = first; step <= head.steps; ++step) remove(StepKey(head.id, step));
}

}  // namespace

Status Runs::Sweep() {
  const MutexLock lock(retry_mutex_);  // a run that is set back is not finished any more
  const std::set<db::ShardId> shards = engine_.shards();
  const uint64_t now_ms = services_.function.clock.WallMs();
  std::vector<RunHead> finished;  // the oldest first
  std::set<std::string> needed = {current_()->version};
  const auto rows = database_.rows().NewIteratorOfAll(
      Family::kRun, {.from = std::string(kHeadPrefix), .to = PrefixEnd(kHeadPrefix)});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(RunHead head,
                     DecodeHead(rows->key().substr(kHeadPrefix.size()), rows->value()));
    if (head.phase == RunPhase::kRunning) {
      needed.insert(head.app);
    } else {
      finished.push_back(std::move(head));
    }
  }
  RETURN_IF_ERROR(rows->status());
  const size_t too_many = finished.size() > retention_.most ? finished.size() - retention_.most : 0;
  size_t i = 0;
  std::erase_if(finished, [&](const RunHead& head) {
    const bool old = head.ended_ms + retention_.keep_ms <= now_ms;
    return i++ >= too_many && !old;
  });
  std::map<db::ShardId, std::vector<RunHead>> by_shard;
  for (RunHead& head : finished) {
    by_shard[database_.ShardOfKey(head.id)].push_back(std::move(head));
  }
  for (const auto& [shard, runs] : by_shard) {
    if (shards.contains(shard)) RETURN_IF_ERROR(RemoveIn(shard, runs));
  }
  // Runs of other servers need apps that are not known here.
  return shards.size() == database_.shard_count() ? SweepApps(needed) : OkStatus();
}

Status Runs::RemoveIn(db::ShardId shard, const std::vector<RunHead>& runs) {
  db::Commit commit;
  const auto apply_if = [&](size_t rows) {
    if (commit.rows.size() < rows) return OkStatus();
    commit.shard = shard;
    return database_.Apply(std::exchange(commit, {})).status;
  };
  // Few have such a row. It goes before the head, without which nobody would know of it.
  const auto inputs = database_.rows().NewIterator(
      Family::kRun, shard, {.from = InputKey(runs.front().id), .to = PrefixEnd(kInputPrefix)});
  for (inputs->SeekToFirst(); inputs->Valid() && inputs->key() <= InputKey(runs.back().id);
       inputs->Next()) {
    const std::string_view id = inputs->key().substr(kInputPrefix.size());
    if (!std::ranges::binary_search(runs, id, {}, &RunHead::id)) continue;
    commit.rows.push_back(RunRow(InputKey(id), std::nullopt));
    RETURN_IF_ERROR(apply_if(kRowsPerCommit));
  }
  RETURN_IF_ERROR(inputs->status());
  RETURN_IF_ERROR(apply_if(1));
  for (const RunHead& head : runs) {
    AddRemoval(head, &commit);
    RETURN_IF_ERROR(apply_if(kRowsPerCommit));
  }
  return apply_if(1);
}

Status Runs::SweepApps(const std::set<std::string>& needed) {
  db::Commit commit;
  commit.shard = db::kDefinitionsShard;
  const auto rows =
      database_.rows().NewIterator(Family::kRun, db::kDefinitionsShard,
                                   {.from = std::string(kAppPrefix), .to = PrefixEnd(kAppPrefix)});
  // After the rows: an app is noted before its row is there.
  const std::map<std::string, std::weak_ptr<const App>> apps = [this] {
    const auto noted = apps_.Lock();
    std::erase_if(*noted, [](const auto& each) { return each.second.expired(); });
    return *noted;
  }();
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    const std::string version(rows->key().substr(kAppPrefix.size()));
    if (needed.contains(version) || apps.contains(version)) continue;
    commit.rows.push_back(RunRow(std::string(rows->key()), std::nullopt));
  }
  RETURN_IF_ERROR(rows->status());
  if (commit.rows.empty()) return OkStatus();
  return database_.Apply(std::move(commit)).status;
}

void Runs::SweepLoop() {
  uint64_t steps = 0;
  int skipped = 0;
  const Clock& clock = services_.function.clock;
  while (stop_.Wait(stop_.news(), clock.Now() + kInterval) != Signal::Waited::kClosed) {
    // Nothing happened: then only time can have made something old.
    const uint64_t before = std::exchange(steps, engine_.counts().durable_steps.load());
    if (before == steps && ++skipped < kMostSkipped) continue;
    skipped = 0;
    if (const Status status = Sweep(); !status.ok()) {
      log::Error("finished runs can't be removed", {{"error", status.ToString()}});
    }
  }
}

void Runs::Stop() {
  parked_.Stop();
  stop_.Close();
  if (sweeper_.joinable()) sweeper_.join();
}

}  // namespace sluice::flow_engine
