// The source of a query: documents by key, documents in key order, rows of an index in index order,
// all as they were at one moment. The database itself is one source, a transaction with its own
// writes another; a query does not know which one it has.
//
// Lifetimes: a cursor must end before its reader, a reader before the database, snapshot or
// transaction that it was made from.
// Concurrency: a cursor belongs to one thread. A snapshot's reader may be used by several threads
// at once, a transaction's belongs to the transaction's thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/document.h"
#include "db/document_policy.h"
#include "db/index.h"
#include "db/types.h"

namespace sluice::db {

class Database;
class DatabaseSnapshot;
class Transaction;

// Gives documents one by one. Not on a document before the first Next.
class DocumentCursor {
 public:
  virtual ~DocumentCursor() = default;
  virtual bool Next() = 0;  // false at the end or on error
  // Of the document that Next arrived at; valid until the following Next.
  virtual std::string_view key() const = 0;
  virtual const DocumentView& document() const = 0;
  virtual Status status() const = 0;
};

// The same for rows of an index.
class IndexCursor {
 public:
  virtual ~IndexCursor() = default;
  virtual bool Next() = 0;
  virtual std::string_view parts() const = 0;  // encoded (json/key_encoding.h)
  virtual std::string_view key() const = 0;    // of the document
  virtual Status status() const = 0;
};

// Keys in [from, to); an empty `to` stands for the end.
struct DocumentRange {
  std::string from;
  std::string to;
  bool reverse = false;
  bool part_of_all = false;  // other threads read the rest: cache it like a scan of everything
  OnUnreadable on_unreadable = nullptr;
};

// Encoded parts in [from, to); an empty `to` stands for the end.
struct IndexRange {
  std::string from;
  std::string to;
  bool reverse = false;
};

class Reader {
 public:
  virtual ~Reader() = default;

  // False when there is no such live document.
  virtual Result<bool> Get(KeyspaceId keyspace, std::string_view key, PinnedDocument* document) = 0;
  // The same for a caller that reads nothing else through this reader; it needs no snapshot.
  virtual Result<bool> GetOnly(KeyspaceId keyspace, std::string_view key,
                               PinnedDocument* document) {
    return Get(keyspace, key, document);
  }
  // Many at once, which costs less than one by one. found[i] tells whether documents[i] is there.
  virtual Status GetMany(KeyspaceId keyspace, std::span<const std::string_view> keys,
                         std::vector<PinnedDocument>* documents, std::vector<bool>* found) = 0;
  // Live documents in key order.
  virtual std::unique_ptr<DocumentCursor> Scan(KeyspaceId keyspace, const DocumentRange& range) = 0;
  // Rows of live documents in index order. The cursor has an error if the index was not ready at
  // the moment that is read, or was dropped (index.building, index.not_found): plan again.
  virtual std::unique_ptr<IndexCursor> ScanIndex(const Index& index, const IndexRange& range) = 0;
};

// The database as it is now, or was at the snapshot's moment, for as long as the reader lives.
std::unique_ptr<Reader> NewSnapshotReader(const Database& database);
std::unique_ptr<Reader> NewSnapshotReader(const Database& database,
                                          std::shared_ptr<const DatabaseSnapshot> snapshot);
// The database as it is at the first read. GetOnly does not count as one.
std::unique_ptr<Reader> NewLateReader(const Database& database);

// The transaction's snapshot plus its own writes. Reads join the read set: documents one by one,
// ranges as a whole, an index as all of its keyspace. A cursor sees the writes that had been made
// when it was made.
std::unique_ptr<Reader> NewTransactionReader(Transaction& transaction);

}  // namespace sluice::db
