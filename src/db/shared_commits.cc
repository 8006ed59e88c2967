#include "db/shared_commits.h"

#include <utility>

#include "db/ownership.h"
#include "db/row_key.h"
#include "db/shared_round.h"

namespace sluice::db {
namespace {

constexpr size_t kMaxRoundCommits = 1024;
constexpr size_t kMaxRoundBytes = 32ull << 20;

Result<std::optional<PreparedGroup>> FindPrepared(const storage::Store& store, ShardId shard) {
  std::string stored;
  ASSIGN_OR_RETURN(const bool found,
                   store.Get(storage::Family::kMeta, RowKey(shard, PreparedKey()), &stored));
  if (!found) return std::nullopt;
  ASSIGN_OR_RETURN(PreparedGroup prepared, PreparedGroup::Decode(stored));
  return prepared;
}

Result<bool> IsDecided(const storage::Store& store, const PreparedGroup& prepared) {
  std::string stored;
  ASSIGN_OR_RETURN(const bool found,
                   store.Get(storage::Family::kMeta,
                             RowKey(prepared.decided_in, DecisionKey(prepared.id)), &stored));
  if (!found) return false;
  ASSIGN_OR_RETURN(const Decision decision, Decision::Decode(stored));
  return true;
}

Result<std::vector<std::string>> DecisionsIn(const storage::Store& store, ShardId shard) {
  std::vector<std::string> keys;
  storage::IterateOptions range;
  range.lower = RowKey(shard, kDecisionPrefix);
  range.upper = PrefixEnd(range.lower);
  const auto rows = store.NewIterator(storage::Family::kMeta, std::move(range));
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) keys.emplace_back(rows->key());
  RETURN_IF_ERROR(rows->status());
  return keys;
}

}  // namespace

SharedCommits::SharedCommits(const Committers& committers, const Clock& clock, HybridClock& stamps,
                             Committer::CatalogSource catalog, CleanCut& cut,
                             SharedCommitsOptions options)
    : committers_(committers),
      clock_(clock),
      stamps_(stamps),
      catalog_(std::move(catalog)),
      cut_(cut),
      options_(options) {}

SharedCommits::~SharedCommits() { Stop(); }

void SharedCommits::Start() {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(started_, true)) return;
  }
  thread_ = Thread({"commit shared"}, [this] { Loop(); });
}

void SharedCommits::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  end_.Close();
  wake_.NotifyOne();
  if (thread_.joinable()) thread_.join();
}

void SharedCommits::Submit(Commit commit, CommitCallback callback) {
  CommitResult refused;
  {
    const size_t bytes = BytesOf(commit);
    const MutexLock lock(mutex_);
    if (stopping_) {
      refused.status = Error(Code::kUnavailable, "commit.stopping", "the server is stopping");
    } else if (!started_) {
      refused.status = Error(Code::kUnavailable, std::string(kNotOwner),
                             "this server owns no shard: their owners take the writes");
    } else if (queue_.size() >= options_.max_queued_commits ||
               (!queue_.empty() && queued_bytes_ + bytes > options_.max_queued_bytes)) {
      refused.status =
          Error(Code::kOverloaded, "commit.overloaded",
                "too many writes are waiting ({} commits, {} bytes); try again shortly",
                queue_.size(), queued_bytes_);
    } else {
      queued_bytes_ += bytes;
      queue_.push_back(std::make_unique<Item>(Item{std::move(commit), std::move(callback), bytes}));
      if (queue_.size() == 1) wake_.NotifyOne();
      return;
    }
  }
  callback(std::move(refused));
}

void SharedCommits::Loop() {
  while (true) {
    Items items = Await();
    if (items.empty()) return;
    SharedRound(*this, std::move(items)).Run();
  }
}

// Nothing: it has been stopped, and all is done.
SharedCommits::Items SharedCommits::Await() {
  const MutexLock lock(mutex_);
  wake_.Wait(lock, [this]() REQUIRES(mutex_) { return stopping_ || !queue_.empty(); });
  Items items;
  size_t bytes = 0;
  while (!queue_.empty() && items.size() < kMaxRoundCommits && bytes < kMaxRoundBytes) {
    bytes += queue_.front()->bytes;
    items.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  queued_bytes_ -= bytes;
  return items;
}

Result<Committer::Task> TaskLeft(const storage::Store& store, ShardId shard) {
  ASSIGN_OR_RETURN(std::optional<PreparedGroup> prepared, FindPrepared(store, shard));
  if (!prepared) return nullptr;
  ASSIGN_OR_RETURN(const bool decided, IsDecided(store, *prepared));
  if (!decided) return DropPrepared(shard);
  return [shard, prepared = std::move(*prepared)](Committer::TaskContext& context) {
    return FinishPrepared(shard, prepared, context);
  };
}

// A prepared group is stored before its decision and deleted after it. So a decision that was found
// first, and that no prepared group has, is of the past.
Status DropOldDecisions(const storage::Store& store, ShardId shard, Committer& committer,
                        uint16_t shards) {
  ASSIGN_OR_RETURN(std::vector<std::string> decisions, DecisionsIn(store, shard));
  for (ShardId other = 0; other < shards && !decisions.empty(); ++other) {
    ASSIGN_OR_RETURN(const std::optional<PreparedGroup> prepared, FindPrepared(store, other));
    if (!prepared || prepared->decided_in != shard) continue;
    std::erase(decisions, RowKey(shard, DecisionKey(prepared->id)));
  }
  if (decisions.empty()) return OkStatus();
  return committer.Run([&](Committer::TaskContext& context) {
    for (const std::string& key : decisions) context.batch.Delete(storage::Family::kMeta, key);
    return OkStatus();
  });
}

}  // namespace sluice::db
