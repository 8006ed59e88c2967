// The changes of one keyspace in all shards, for a reader that keeps its place itself: a client's
// change stream. Nothing is stored, and the log is not held. A reader whose place was trimmed away
// gets each document that changed since once, in its last state (db/feed.h).
//
// Operation: the shards are read in turn, so that none is left behind.
// Concurrency: one thread at a time; every call may read from the disk.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "db/database.h"
#include "db/feed.h"

namespace sluice::follow {

class KeyspaceReader {
 public:
  enum class From : uint8_t { kNow, kEverything };

  // From here on the log has every change of the keyspace, for as long as the reader lives.
  static Result<std::unique_ptr<KeyspaceReader>> Open(db::Database& database,
                                                      db::KeyspaceId keyspace, From from);
  // After these places, one for each shard.
  static Result<std::unique_ptr<KeyspaceReader>> OpenAt(db::Database& database,
                                                        db::KeyspaceId keyspace,
                                                        std::vector<db::CursorState> places);

  // Gives up to `max` changes to the visitor, and returns how many; 0 when there is nothing new.
  // The visitor returns false to stop after the change it was given.
  using Visitor = std::function<bool(const db::Change& change)>;
  Result<size_t> Read(size_t max, const Visitor& visitor);

  // By shard: the places behind the changes that were given, also during a call of the visitor.
  const std::vector<db::CursorState>& places() const { return places_; }
  // Whether the next Read continues in the log. If not, it looks through documents, which may take
  // long however little it gives.
  bool InLog() const;

 private:
  KeyspaceReader(db::Database& database, db::KeyspaceId keyspace)
      : database_(database), keyspace_(keyspace) {}
  static Result<std::unique_ptr<KeyspaceReader>> Follow(db::Database& database,
                                                        db::KeyspaceId keyspace);
  void OpenFeeds();

  db::Database& database_;
  const db::KeyspaceId keyspace_;
  std::shared_ptr<void> follows_;
  std::vector<db::CursorState> places_;           // by shard
  std::vector<std::unique_ptr<db::Feed>> feeds_;  // by shard
  size_t next_shard_ = 0;                         // read first
};

}  // namespace sluice::follow
