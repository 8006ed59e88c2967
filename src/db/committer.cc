#include "db/committer.h"

#include <algorithm>
#include <future>
#include <semaphore>

#include "base/check.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/wait_scope.h"
#include "db/group_contents.h"
#include "db/ownership.h"

namespace sluice::db {
Committer::Committer(ShardId shard, storage::Store& store, Journal& journal, const Clock& clock,
                     HybridClock& stamps, CatalogSource catalog, Installed installed,
                     ShardState state, CommitterOptions options)
    : shard_(shard),
      store_(store),
      journal_(journal),
      clock_(clock),
      stamps_(stamps),
      catalog_(std::move(catalog)),
      installed_(std::move(installed)),
      options_(options),
      state_(state),
      durable_(state),
      last_sequence_(state.sequence),
      trimmed_(state.trimmed),
      purged_(state.purged) {}

// Groups have come since it had a thread before: nothing is known of what they wrote.
Status Committer::Start(Task first) {
  state_ = durable_;
  last_writes_.NoteAll(durable_.sequence);
  const bool has_first = first != nullptr;
  {
    const MutexLock lock(mutex_);
    CHECK(role_ == Role::kStandby);
    role_ = Role::kOwner;
    held_ = has_first;
  }
  thread_ = Thread({"commit", std::to_string(shard_)}, [this] { Loop(); });
  if (!has_first) return OkStatus();
  std::promise<Status> done;
  RunHeld(std::move(first), [&done](Status status) { done.set_value(std::move(status)); });
  Status finished = done.get_future().get();
  Release(finished);
  return finished;
}

Committer::~Committer() { Stop(); }

void Committer::BecomeStandby() {
  {
    const MutexLock lock(mutex_);
    CHECK(role_ == Role::kOwner);
    role_ = Role::kLeaving;
  }
  Stop();
  state_ = durable_;
  lost_ = left_ = false;
  retry_ns_ = last_recovery_ns_ = 0;
  const MutexLock lock(mutex_);
  failure_ = OkStatus();
  stopping_ = false;
  role_ = Role::kStandby;
}

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
  item->bytes = BytesOf(commit);
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

void Committer::Hold(Held held) {
  auto item = std::make_unique<Item>();
  item->held = std::move(held);
  Enqueue(std::move(item));
}

void Committer::RunHeld(Task task, std::function<void(Status)> done) {
  auto item = std::make_unique<Item>();
  item->task = std::move(task);
  item->task_done = std::move(done);
  const MutexLock lock(mutex_);
  CHECK(held_ && held_task_ == nullptr);
  held_task_ = std::move(item);
  wake_.NotifyOne();
}

void Committer::Release(Status failure) {
  const MutexLock lock(mutex_);
  CHECK(held_ && held_task_ == nullptr);
  held_ = false;
  if (!failure.ok()) {
    left_ = true;
    failure_ = std::move(failure);
  }
  wake_.NotifyOne();
}

Group::Context Committer::GroupContext(const Catalog& catalog, size_t commits) {
  return {store_,
          shard_,
          catalog,
          stamps_,
          last_writes_,
          clock_.WallMs(),
          options_.tombstone_retention_ms,
          commits,
          options_.shards};
}

std::unique_ptr<Group> Committer::NewHeldGroup(const Catalog& catalog, ShardState state,
                                               storage::Batch* batch, size_t commits) {
  return std::make_unique<Group>(GroupContext(catalog, commits), state, batch);
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
    if (role_ != Role::kOwner) {
      refused = Error(Code::kUnavailable, std::string(kNotOwner),
                      "this server does not own shard {}: its owner takes the writes", shard_);
    } else if (stopping_) {
      refused = Error(Code::kUnavailable, "commit.stopping", "the server is stopping");
    } else if (item->is_commit() && IsFull(*item)) {
      refused = Error(Code::kOverloaded, "commit.overloaded",
                      "too many writes are waiting ({} commits, {} bytes); try again shortly",
                      queue_.size(), queued_bytes_);
    } else {
      queued_bytes_ += item->bytes;
      queue_.push_back(std::move(item));
      // With a longer queue the committer is awake already, or waits for the journal.
      if (queue_.size() == 1) wake_.NotifyOne();
      return;
    }
  }
  if (item->held) {
    item->held(refused);
  } else if (item->task) {
    item->task_done(refused);
  } else {
    CommitResult result;
    result.status = std::move(refused);
    item->callback(std::move(result));
  }
}

Status Committer::ApplyGroup(Sequence expected, Sequence next, storage::Batch* batch) {
  {
    const MutexLock lock(mutex_);
    if (role_ != Role::kStandby) {
      return Error(Code::kConflict, "group.not_standby",
                   "shard {} takes commits here, and no groups of others", shard_);
    }
  }
  ASSIGN_OR_RETURN(const FoundInBatch found, FindInBatch(*batch, shard_));
  if (found.state.sequence != next || next <= expected) {
    return Error(Code::kCorruption, "group.corrupt",
                 "the shard's row in a group of shard {} has sequence {}, expected {}", shard_,
                 found.state.sequence, next);
  }
  if (expected != durable_.sequence) {
    return Error(Code::kConflict, "group.gap",
                 "a group of shard {} follows sequence {}, but this shard is at {}", shard_,
                 expected, durable_.sequence);
  }
  AnnounceGone(found.state);
  // Whoever feeds the standby has the group, and sends again what a crash loses here.
  if (Status written = store_.Write(batch, storage::Sync::kNo); !written.ok()) {
    AnnounceGone(durable_);
    return written;
  }
  last_writes_.NoteAll(next);
  state_ = found.state;
  Install(found.state, *batch, found.committed);
  NotifyListeners(found.committed);
  return OkStatus();
}

// The only way in which a group becomes visible, whoever built it. Its rows are in the store.
void Committer::Install(const ShardState& state, const storage::Batch& batch,
                        const Committed& committed) {
  durable_ = state;
  stamps_.Raise(state.clock);
  last_sequence_.store(state.sequence, std::memory_order_release);
  AnnounceGone(state);
  installed_(batch, committed);
}

void Committer::Replace(const ShardState& state) {
  CHECK(role_ == Role::kStandby);
  state_ = durable_ = state;
  stamps_.Raise(state.clock);
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
