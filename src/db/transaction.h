// A transaction: reads one snapshot plus its own writes, and commits if no document that it read
// has changed since. A conflict rejects the commit (Code::kConflict); RunTransaction runs it again.
//
// One thread. Documents may be in any shards; a transaction that stays in one commits faster.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/database.h"
#include "db/types.h"

namespace sluice::db {

// A write that depends on the present document.
struct TransactionWriteOptions {
  Cas cas = 0;               // the document must have this one; 0 for any
  bool keep_expiry = false;  // a present document's expiry stays, whatever the new one says
  // As in Write.
  bool anonymous = false;
  bool keep_xattrs = false;
  // For Put: the caller does not need the stamp, so the committer may make it, which costs less.
  bool unstamped = false;
};

// The reads that must not have changed for a transaction to commit.
enum class Isolation : uint8_t {
  kSerialisable,  // all reads
  kSnapshot,      // reads of documents that it then wrote
};

class Transaction {
 public:
  // The snapshot is of the moment of its first read; a transaction that never reads needs none.
  explicit Transaction(Database& database, Isolation isolation = Isolation::kSerialisable);
  // Reads the given snapshot.
  Transaction(Database& database, std::shared_ptr<const DatabaseSnapshot> snapshot,
              Isolation isolation = Isolation::kSerialisable);

  Result<std::optional<Document>> Get(KeyspaceId keyspace, std::string_view key);
  Result<bool> Get(KeyspaceId keyspace, std::string_view key, PinnedDocument* document);
  // Merges the snapshot with this transaction's writes, in key order.
  Status Scan(KeyspaceId keyspace, std::string_view from, std::string_view to,
              const ScanVisitor& visitor);
  // Return the stamp that the document will have. Flags and extended attributes are the given ones.
  // Each write, and Delete, fails with commit.too_large if the commit would be larger than
  // Database::commit_limits.
  Result<Cas> Put(KeyspaceId keyspace, std::string_view key, Document document,
                  TransactionWriteOptions options = {});
  Result<Cas> Insert(KeyspaceId keyspace, std::string_view key, Document document,
                     TransactionWriteOptions options = {});
  Result<Cas> Replace(KeyspaceId keyspace, std::string_view key, Document document,
                      TransactionWriteOptions options = {});
  // Sets the expiry only; 0 clears it.
  Result<Cas> Touch(KeyspaceId keyspace, std::string_view key, uint64_t expiry_ms);
  // Not found is an error. With a CAS the document must have that one.
  Status Delete(KeyspaceId keyspace, std::string_view key, Cas cas = 0);

  // A row of another module, written with the documents.
  void AddRow(RowWrite row);

  // Undoes the writes made after the savepoint; reads stay in the read set.
  size_t Savepoint() const { return undo_.size(); }
  void RollbackTo(size_t savepoint);

  // The user for whom it writes (Commit::actor).
  void set_actor(std::string actor) { actor_ = std::move(actor); }
  const std::string& actor() const { return actor_; }

  // The transaction as a commit, to which a caller may add a cursor move or rows.
  Commit TakeCommit();
  CommitResult Apply();  // waits

  size_t writes() const { return writes_.size() + rows_.size(); }
  // Whether it has written or deleted this document.
  bool Wrote(KeyspaceId keyspace, std::string_view key) const {
    return writes_.contains({keyspace, std::string(key)});
  }
  // About how much memory the writes take, including those that later ones replaced.
  size_t bytes() const { return bytes_; }

 private:
  friend class TransactionReader;
  using Where = std::pair<KeyspaceId, std::string>;
  // Null: deleted. Shared with readers that hold on to it.
  using Pending = std::shared_ptr<Document>;

  // Properties of a write besides its document.
  struct Marks {
    bool anonymous = false;
    bool keep_xattrs = false;
    bool touch = false;
  };

  Status Join(KeyspaceId keyspace, std::string_view key);
  Status CheckPresent(KeyspaceId keyspace, std::string_view key, Cas cas, PinnedDocument* document);
  Result<Cas> SetDocument(KeyspaceId keyspace, std::string_view key, Document document,
                          Marks marks);
  // A write that is read gets its stamp at that moment.
  void Stamp(const Pending& pending);
  void StampAll();
  Status JoinRange(KeyspaceId keyspace, std::string_view from, std::string_view to);
  std::vector<RangeCheck> TakeRanges();
  ShardId HomeShard() const;
  bool Live(const Pending& pending) const;
  Status Set(const Where& where, Pending pending, Marks marks);
  Write::Seen SeenOf(const Where& where) const;
  const DatabaseSnapshot& snapshot() const;

  Database& database_;
  std::string actor_;
  mutable std::shared_ptr<const DatabaseSnapshot> snapshot_;  // null until it is needed
  const Isolation isolation_;
  std::vector<Sequence> sequences_;  // of the snapshot, by shard, since the first range
  std::optional<ShardId> shard_;     // of the first document
  uint32_t document_bytes_ = 0;      // of the documents in writes_
  std::map<Where, Pending> writes_;
  std::vector<RowWrite> rows_;
  std::map<Where, Marks> marks_;  // of some of writes_
  std::map<Where, Sequence> reads_;
  std::vector<RangeCheck> ranges_;  // each in all shards of its keyspace
  // The state that each write replaced.
  struct Undo {
    Where where;
    std::optional<Pending> replaced = std::nullopt;  // in writes_; none: nothing was there
    std::optional<Marks> marks = std::nullopt;
    size_t bytes = 0;  // of the write
    bool row = false;  // it is the last of rows_
  };
  std::vector<Undo> undo_;
  size_t bytes_ = 0;      // of all in undo_
  uint64_t changes_ = 0;  // counts changes of writes_
};

// Runs `body` in a transaction and commits it; again, from the start, on conflict
// (db/conflict_retry.h). Waits.
Result<CommitResult> RunTransaction(Database& database,
                                    const std::function<Status(Transaction&)>& body);

}  // namespace sluice::db
