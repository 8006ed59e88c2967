// The changes that a batch of invocations makes to the failures of one owner, in the shard of the
// batch's commit. They become rows of that commit.
//
// The commit depends on every failure that was read and then changed: when another commit changed
// it in between, this one is refused (Code::kConflict, row.changed) and the batch must run again.
// So only one commit can retry a failure, and a successful retry removes it.
// One thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "failure/failure.h"
#include "timer/write_set.h"

namespace sluice::failure {

// The change of the number and bytes of an owner's failures by a commit.
struct SizeChange {
  int64_t failures = 0;
  int64_t bytes = 0;
};

class WriteSet {
 public:
  // `shard` is that of the batch's commit. Without an owner nothing can be added.
  WriteSet(db::Database& database, db::ShardId shard, std::string owner)
      : database_(database),
        shard_(shard),
        owner_(std::move(owner)),
        retries_(database, shard, RetryOwner(owner_)) {}

  // The id for a new one.
  FailureId NewId() const { return {database_.NewCas(), shard_}; }
  // A new one with an id of NewId. `due_ms` is when it is tried again; none: it is dead.
  Status Add(Failure failure, std::string_view payload, std::optional<uint64_t> due_ms);

  struct Taken {
    Failure failure;
    std::string payload;
  };
  // The failure whose retry is due then; the retry is used up, the failure stays until Remove or
  // Update. None when it is not to be tried then any more.
  Result<std::optional<Taken>> Take(const timer::Moment& moment);

  // Failures of other shards are not found.
  Result<std::optional<Failure>> Find(const FailureId& id);
  Result<std::string> Payload(const FailureId& id) const;  // of an existing failure
  // After another attempt.
  Status Update(const Failure& failure, std::optional<uint64_t> due_ms);
  Status SetPayload(Failure failure, std::string_view payload);
  // It is tried again then, and not when it was to be before.
  Status Retry(const Failure& failure, uint64_t due_ms);
  Status Remove(const Failure& failure);

  size_t rows() const { return rows_.size() + retries_.rows(); }
  size_t bytes() const { return bytes_ + retries_.bytes(); }
  // When the first of the retries that the batch made is due.
  std::optional<uint64_t> earliest_ms() const { return retries_.earliest_ms(); }
  const SizeChange& change() const { return change_; }
  // Adds the changes to the commit; of them, only change() is left here.
  void MoveTo(db::Commit* commit);

 private:
  using Row = std::optional<std::string>;  // none: there is no such row

  void Set(const std::string& key, Row value);
  void Put(const Failure& failure);
  void Count(const Failure& failure, int64_t sign);

  db::Database& database_;
  const db::ShardId shard_;
  const std::string owner_;
  timer::WriteSet retries_;
  std::map<std::string, Row> rows_;          // as they will be
  std::map<std::string, std::string> read_;  // as they are stored
  size_t bytes_ = 0;
  SizeChange change_;
};

}  // namespace sluice::failure
