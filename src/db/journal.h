// The interface behind which a group of commits becomes durable. The code above it does not know
// which implementation runs.
//
// Groups of a shard are numbered by the sequence of their last commit. An append says which group
// it follows, so a journal that several processes share can refuse it: then somebody else has
// appended in the meantime and owns the shard now.
#pragma once

#include <functional>
#include <memory>

#include "base/status.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

class Journal {
 public:
  enum class Outcome : uint8_t {
    kCommitted,  // durable, as far as the durability setting asks for that
    kRefused,    // not stored, and never will be: somebody else has appended
    kUnknown,    // it may be stored, or not, or later
    kFailed,     // not stored, and never will be (disk full); the next group may be
  };
  struct Answer {
    Outcome outcome = Outcome::kCommitted;
    Status status;  // why, unless committed
  };
  using Done = std::move_only_function<void(Answer)>;

  virtual ~Journal() = default;

  // Appends a group whose commits have the sequences after `expected` up to `next`, behind the one
  // that ended with `expected`. Calls `done` once, on any thread, possibly before it returns. Until
  // then the batch stays as it is. One thread appends the groups of a shard, in order, and need not
  // wait for the answers. A group is committed only if all before it are, but the answers may come
  // in any order.
  virtual void Append(ShardId shard, Sequence expected, Sequence next, storage::Batch* group,
                      Done done) = 0;

  // Which groups of a shard are stored, after an outcome that was not known. All its appends were
  // answered before. After this has succeeded, none of them is stored that was not stored by then.
  // It may wait. An error: that can't be known now.
  struct Position {
    Sequence last = 0;  // the end of the last group that this process appended, or found
    bool lost = false;  // somebody else has appended behind that
  };
  virtual Result<Position> Last(ShardId shard) = 0;

  // After a failed append the shard does not go on before this succeeds.
  virtual Status Recover() = 0;

  // Whether a committed group is in the store when its append is answered. If not, the committer
  // writes it there, without syncing: the journal has it.
  virtual bool WritesStore() const = 0;
};

// Makes the journal of a database that was opened.
using JournalFactory = std::function<std::unique_ptr<Journal>(storage::Store& store)>;

// The store's own write-ahead log: appending a group and writing it to the store are the same.
// Every append is answered before it returns, and never with kRefused or kUnknown: one process has
// the store open.
class EmbeddedJournal final : public Journal {
 public:
  EmbeddedJournal(storage::Store& store, storage::Sync sync) : store_(store), sync_(sync) {}
  void Append(ShardId shard, Sequence expected, Sequence next, storage::Batch* group,
              Done done) override;
  Result<Position> Last(ShardId shard) override;
  Status Recover() override { return store_.Resume(); }
  bool WritesStore() const override { return true; }

 private:
  storage::Store& store_;
  const storage::Sync sync_;
};

}  // namespace sluice::db
