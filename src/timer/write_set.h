// The timers of one owner, in the shard of a batch's commit, as the batch of invocations sees them:
// the stored timers, changed by the timers that the batch itself creates, cancels and takes. The
// changes become rows of the commit.
//
// The commit depends on every row that was read and then changed: when another commit changed it in
// between, this one is refused (Code::kConflict, row.changed) and the batch must run again. So only
// one commit can take a timer.
// One thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "timer/timer.h"

namespace sluice::timer {

class WriteSet {
 public:
  WriteSet(const db::Database& database, db::ShardId shard, std::string owner)
      : database_(database), shard_(shard), owner_(std::move(owner)) {}

  // Replaces a timer of the same callback and reference. The moment's id must be new; its shard
  // is that of the batch, whatever it says.
  Status Create(const Timer& timer);
  Result<std::optional<Timer>> Find(std::string_view callback, std::string_view reference);
  // False if the timer does not exist.
  Result<bool> Cancel(std::string_view callback, std::string_view reference);
  // Removes and returns the timer of that moment; nullopt if it no longer exists.
  Result<std::optional<Timer>> Take(const Moment& moment);

  // Rollback undoes the changes after the savepoint; the reads still count for conflicts.
  size_t Savepoint() const { return undo_.size(); }
  void RollbackTo(size_t savepoint);

  size_t rows() const { return rows_.size(); }
  // Memory that the changes take, about, also those that later ones replaced.
  size_t bytes() const { return bytes_; }
  // When the first of the timers that the batch created, and has still, is due.
  std::optional<uint64_t> earliest_ms() const;
  // Adds the changes to the commit; nothing is left here.
  void MoveTo(db::Commit* commit);

 private:
  using Row = std::optional<std::string>;  // none: there is no such row

  Result<Row> Read(const std::string& key);
  void Set(const std::string& key, Row value);
  Result<std::optional<Moment>> Lookup(const std::string& name_key);

  const db::Database& database_;
  const db::ShardId shard_;
  const std::string owner_;
  std::map<std::string, Row> rows_;  // as they will be
  std::map<std::string, Row> read_;  // as they are stored
  struct Undo {
    std::string key;
    std::optional<Row> replaced;  // in rows_; none: nothing was there
    size_t bytes = 0;
  };
  std::vector<Undo> undo_;
  size_t bytes_ = 0;
};

}  // namespace sluice::timer
