// A shard's log: its changes in commit order (docs/formats/log.md). Written in the same batch as
// the documents, only for keyspaces that have followers, and trimmed below the lowest cursor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/cursor.h"
#include "db/document.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

enum class Operation : uint8_t { kInsert = 1, kUpdate = 2, kDelete = 3, kExpire = 4 };
std::string_view OperationName(Operation operation);

// The content of log rows that a reader needs: the keys of changed documents, or also the
// documents.
enum class LogContent : uint8_t { kKeys, kDocuments };

// One document's part of a commit. Views are valid until the reader that gave it moves on.
struct Change {
  Sequence sequence = 0;          // also the transaction's id: one commit, one sequence
  uint32_t n = 0;                 // place within the commit
  bool last_of_keyspace = false;  // the commit has no further change of this keyspace
  Operation operation = Operation::kInsert;
  KeyspaceId keyspace = 0;
  std::string_view key;
  uint64_t time_ms = 0;  // when it was committed
  std::string_view origin;
  Cas cas = 0;  // the document's after the change; a deletion has one too
  std::optional<DocumentView> before;
  std::optional<DocumentView> after;  // none for deletions
  // Not OK: `after` can't be migrated to the form in which it is read, and is as it is stored.
  Status unreadable;

  LogPosition position() const { return {sequence, n}; }
};

std::string LogKey(ShardId shard, Sequence sequence, uint32_t n);
// A log row's value without the document after the change, which follows it in the form of
// EncodeDocument.
std::string EncodeLogHeader(const Change& change);
Status DecodeLogRow(std::string_view key, std::string_view value, Change* change);

// Reads one shard's log forward from a position. One thread. It sees the commits before the last
// Refresh, or before it was made.
class LogReader {
 public:
  static constexpr Sequence kNoLast = UINT64_MAX;

  // `keyspaces` sorted; empty means all. Commits after `last` are left out.
  LogReader(const storage::Store& store, ShardId shard, LogPosition after,
            std::vector<KeyspaceId> keyspaces, Sequence last = kNoLast);

  // The next change of a followed keyspace, or null at the present end of the log.
  Result<const Change*> Next();
  // All changes up to here were delivered or are of other keyspaces.
  LogPosition position() const { return position_; }
  // Looks again at the store's present state.
  void Refresh();

 private:
  bool Wanted(KeyspaceId keyspace) const;

  const storage::Store& store_;
  const ShardId shard_;
  const std::vector<KeyspaceId> keyspaces_;
  const Sequence last_;
  LogPosition position_;
  std::unique_ptr<storage::Iterator> iterator_;
  bool started_ = false;
  Change change_;
};

}  // namespace sluice::db
