// All failures of one owner, in all shards: operators list, retry, edit and drop them here, and
// this class enforces the bound on their number.
//
// Concurrency: every method from any thread. Each change is a commit of its own, which runs again
// if another commit changed the same failure.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "db/database.h"
#include "failure/failure.h"
#include "failure/write_set.h"

namespace sluice::failure {

// The most bytes of one owner's failures. Only events with much data reach it.
inline constexpr uint64_t kMaxKeptBytes = 256ull << 20;

class FailureList {
 public:
  FailureList(db::Database& database, std::string owner);

  const std::string& owner() const { return owner_; }
  // Counts the stored failures. Call it first.
  Status Load();
  void SetBound(uint32_t most_failures, uint64_t most_bytes = kMaxKeptBytes) {
    most_failures_ = most_failures;
    most_bytes_ = static_cast<int64_t>(most_bytes);
  }

  uint64_t kept() const;
  Result<uint64_t> CountWaiting() const;

  struct Item {
    Failure failure;
    std::optional<uint64_t> due_ms;  // when it is tried again; none: it is dead
  };
  // In order of their ids, beginning with `from`; false ends it.
  using Visitor = std::function<bool(Item item)>;
  Status Visit(const FailureId& from, const Visitor& visitor) const;
  Result<Item> Find(const FailureId& id) const;  // failure.not_found
  Result<std::string> Payload(const FailureId& id) const;

  // All of these may return failure.not_found. The caller must call the scheduler's Created for the
  // new timers.
  Status Retry(const FailureId& id, uint64_t due_ms);
  Result<uint64_t> RetryAll(uint64_t due_ms);
  // `edit` gets the failure and its data, and changes the event's text and the data.
  using Edit = std::function<Status(Failure& failure, std::string& payload)>;
  Status Change(const FailureId& id, const Edit& edit);
  Status Drop(const FailureId& id);
  Result<uint64_t> DropAll();

  // Call it after another commit changed the failures. If there are too many now, drops the oldest,
  // dead ones first, and returns their number. Waits for its own commits.
  Result<uint64_t> Committed(const SizeChange& change);

 private:
  using Step = std::function<Status(WriteSet&, const Failure&)>;

  Status Apply(db::ShardId shard, const std::function<Status(WriteSet&)>& change);
  // Applies `step` to those of them that still exist, and returns their number.
  Result<uint64_t> Each(std::vector<FailureId> ids, const Step& step);
  Status One(const FailureId& id, const Step& step);
  Result<uint64_t> All(const Step& step);
  bool TooMuch() const;
  Result<std::vector<FailureId>> Oldest() const;

  db::Database& database_;
  const std::string owner_;
  std::atomic<int64_t> most_failures_{INT64_MAX};
  std::atomic<int64_t> most_bytes_{kMaxKeptBytes};
  std::atomic<int64_t> failures_{0};
  std::atomic<int64_t> bytes_{0};
  Mutex trim_mutex_;  // held across commits: one thread drops the oldest
};

// The owners that have failures.
Result<std::vector<std::string>> Owners(const db::Database& database);
// Removes all of an owner's failures and retries in one shard, in several commits: the owner must
// not run any more, and after a crash it must be done again. Waits.
Status DropOwnerIn(db::Database& database, db::ShardId shard, std::string_view owner);
// The same in all shards.
Status DropOwner(db::Database& database, std::string_view owner);

}  // namespace sluice::failure
