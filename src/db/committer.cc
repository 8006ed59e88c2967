#include "db/committer.h"

#include <algorithm>
#include <future>
#include <semaphore>

#include "base/check.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/wait_scope.h"

namespace sluice::db {
namespace {

constexpr size_t kMaxGroupCommits = 4096;
constexpr size_t kMaxGroupBytes = 32ull << 20;
constexpr uint64_t kRecoveryIntervalNs = 1'000'000'000;

size_t CommitBytes(const Commit& commit) {
  size_t bytes = 256;
  for (const Write& write : commit.writes) {
    bytes += 64 + write.key.size() + write.document.body.size() + write.document.xattrs.size();
    if (write.prepared == nullptr || write.prepared->ahead == nullptr) continue;
    const ReadAhead& ahead = *write.prepared->ahead;
    bytes += sizeof(ahead) + ahead.present->body.size() + ahead.present->xattrs.size();
    if (ahead.settled.body) bytes += ahead.settled.body->size();
  }
  for (const RowWrite& row : commit.rows) {
    bytes += 64 + row.key.size() + (row.value ? row.value->size() : 0);
  }
  return bytes;
}

}  // namespace

Committer::Committer(ShardId shard, storage::Store& store, Journal& journal, const Clock& clock,
                     HybridClock& stamps, CatalogSource catalog, ShardState state,
                     CommitterOptions options)
    : shard_(shard),
      store_(store),
      journal_(journal),
      clock_(clock),
      stamps_(stamps),
      catalog_(std::move(catalog)),
      options_(options),
      state_(state),
      last_sequence_(state.sequence),
      trimmed_(state.trimmed),
      purged_(state.purged) {
  thread_ = Thread({"commit", std::to_string(shard_)}, [this] { Loop(); });
}

Committer::~Committer() { Stop(); }

void Committer::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyOne();
  if (thread_.joinable()) thread_.join();
}

void Committer::Submit(Commit commit, CommitCallback callback) {
  auto item = std::make_unique<Item>();
  item->bytes = CommitBytes(commit);
  item->commit = std::move(commit);
  item->callback = std::move(callback);
  Enqueue(std::move(item));
}

CommitResult Committer::Apply(Commit commit) {
  CommitResult result;
  std::binary_semaphore done(0);
  Submit(std::move(commit), [&](CommitResult outcome) {
    result = std::move(outcome);
    done.release();
  });
  const WaitScope waits;
  done.acquire();
  return result;
}

Status Committer::Run(Task task) {
  std::promise<Status> done;
  auto item = std::make_unique<Item>();
  item->task = std::move(task);
  item->task_done = [&done](Status status) { done.set_value(std::move(status)); };
  Enqueue(std::move(item));
  const WaitScope waits;
  return done.get_future().get();
}

// A commit that is larger than the bound on bytes may still be queued alone.
bool Committer::IsFull(const Item& item) const {
  return queue_.size() >= options_.max_queued_commits ||
         (!queue_.empty() && queued_bytes_ + item.bytes > options_.max_queued_bytes);
}

void Committer::Enqueue(std::unique_ptr<Item> item) {
  Status refused;
  {
    const MutexLock lock(mutex_);
    if (stopping_) {
      refused = Error(Code::kUnavailable, "commit.stopping", "the server is stopping");
    } else if (!item->task && IsFull(*item)) {
      refused = Error(Code::kOverloaded, "commit.overloaded",
                      "too many writes are waiting ({} commits, {} bytes); try again shortly",
                      queue_.size(), queued_bytes_);
    } else {
      queued_bytes_ += item->bytes;
      queue_.push_back(std::move(item));
      // The committer sleeps only on an empty queue.
      if (queue_.size() == 1) wake_.NotifyOne();
      return;
    }
  }
  if (item->task) {
    item->task_done(refused);
  } else {
    CommitResult result;
    result.status = std::move(refused);
    item->callback(std::move(result));
  }
}

void Committer::Loop() {
  while (true) {
    Items items = TakeItems();
    if (items.empty()) return;
    if (items.front()->task) {
      RunTask(*items.front());
    } else {
      RunGroup(items);
    }
  }
}

// Either one task, or commits up to the next task. Empty when it is time to end.
Committer::Items Committer::TakeItems() {
  Items items;
  MutexLock lock(mutex_);
  wake_.Wait(lock, [this]() REQUIRES(mutex_) { return stopping_ || !queue_.empty(); });
  size_t bytes = 0;
  while (!queue_.empty() && items.size() < kMaxGroupCommits && bytes < kMaxGroupBytes) {
    if (queue_.front()->task && !items.empty()) break;
    bytes += queue_.front()->bytes;
    items.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (items.back()->task) break;
  }
  queued_bytes_ -= bytes;
  return items;
}

void Committer::RunGroup(Items& items) {
  std::vector<CommitResult> results(items.size());
  Status appended = RecoverIfFailed();
  ShardState next = state_;
  Committed committed;
  uint64_t writes = 0;
  if (appended.ok()) {
    const std::shared_ptr<const Catalog> catalog = catalog_();
    batch_.Clear();
    Group group({store_, shard_, *catalog, stamps_, last_writes_, clock_.WallMs(),
                 options_.tombstone_retention_ms, items.size(), options_.shards},
                state_, &batch_);
    for (size_t i = 0; i < items.size(); ++i) results[i] = group.Add(items[i]->commit);
    writes = group.writes();
    committed.keyspaces = group.logged();
    committed.meta_keys = group.meta_keys();
    if (group.state().sequence != state_.sequence) {
      next = group.Finish();
      appended = Append(&batch_);
    }
  }
  if (appended.ok()) {
    Publish(next);
    writes_ += writes;
  }
  ++groups_;
  // Listeners come first: when a writer gets its answer, the followers are awake.
  if (appended.ok()) {
    committed.sequence = state_.sequence;
    NotifyListeners(committed);
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (!appended.ok()) results[i] = CommitResult{.status = appended, .writes = {}};
    ++(results[i].status.ok() ? commits_ : rejected_);
    items[i]->callback(std::move(results[i]));
  }
}

void Committer::RunTask(Item& item) {
  Committed committed;
  const auto run = [&]() -> Status {
    RETURN_IF_ERROR(RecoverIfFailed());
    batch_.Clear();
    ShardState next = state_;
    ++next.sequence;
    TaskContext context{next, batch_, {}, {}};
    RETURN_IF_ERROR(item.task(context));
    next.clock = stamps_.Next();
    batch_.Put(storage::Family::kMeta, ShardState::Key(shard_), next.Encode());
    // Announced before the rows are removed: a feed reads rows and then asks which rows are gone,
    // and the answer must include all that it could have missed (feed.cc).
    AnnounceGone(next);
    last_writes_.NoteAll(next.sequence);
    if (Status appended = Append(&batch_); !appended.ok()) {
      AnnounceGone(state_);
      return appended;
    }
    Publish(next);
    if (context.published) context.published();
    committed.sequence = next.sequence;
    committed.meta_keys = std::move(context.meta_keys);
    std::ranges::sort(committed.meta_keys);
    return OkStatus();
  };
  Status status = run();
  if (status.ok()) NotifyListeners(committed);
  item.task_done(std::move(status));
}

Status Committer::Append(storage::Batch* batch) {
  const uint64_t before = clock_.MonotonicNs();
  Status status = journal_.Append(shard_, batch);
  append_ns_ += clock_.MonotonicNs() - before;
  if (!status.ok()) {
    log::Error("a commit group could not be made durable; the shard takes no writes until it can",
               {{"shard", shard_}, {"error", status.ToString()}});
    last_recovery_ns_ = clock_.MonotonicNs();
    const MutexLock lock(mutex_);
    failure_ = status;
  }
  return status;
}

// After a failed append, tries at most once a second to go on.
Status Committer::RecoverIfFailed() {
  Status failure;
  {
    const MutexLock lock(mutex_);
    failure = failure_;
  }
  if (failure.ok()) return OkStatus();
  const uint64_t now = clock_.MonotonicNs();
  if (now - last_recovery_ns_ < kRecoveryIntervalNs) return failure;
  last_recovery_ns_ = now;
  if (!journal_.Recover().ok()) return failure;
  log::Info("the shard takes writes again", {{"shard", shard_}});
  const MutexLock lock(mutex_);
  failure_ = OkStatus();
  return OkStatus();
}

void Committer::Publish(const ShardState& state) {
  state_ = state;
  last_sequence_.store(state.sequence, std::memory_order_release);
  AnnounceGone(state);
}

void Committer::AnnounceGone(const ShardState& state) {
  trimmed_.store(state.trimmed, std::memory_order_release);
  purged_.store(state.purged, std::memory_order_release);
}

CommitterStats Committer::Stats() const {
  CommitterStats stats;
  stats.commits = commits_;
  stats.groups = groups_;
  stats.rejected = rejected_;
  stats.writes = writes_;
  stats.append_ns = append_ns_;
  const MutexLock lock(mutex_);
  stats.queued = queue_.size();
  stats.failure = failure_;
  return stats;
}

std::shared_ptr<void> Committer::OnCommitted(CommitListener listener) {
  const MutexLock lock(listeners_->mutex);
  const auto entry = listeners_->calls.insert(listeners_->calls.end(), std::move(listener));
  return std::shared_ptr<void>(nullptr, [listeners = listeners_, entry](void*) {
    std::list<CommitListener> removed;  // ends without the lock
    const MutexLock removing(listeners->mutex);
    removed.splice(removed.begin(), listeners->calls, entry);
  });
}

void Committer::NotifyListeners(const Committed& committed) {
  const MutexLock lock(listeners_->mutex);
  for (const CommitListener& call : listeners_->calls) call(committed);
}

}  // namespace sluice::db
