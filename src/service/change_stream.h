// The changes of one keyspace (follow/keyspace_reader.h), from a given place on: a feed's source.
// Memory is bounded by one document, however far behind the reader is.
//
// Open and Read block; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "db/database.h"
#include "follow/keyspace_reader.h"
#include "service/feed_position.h"

namespace sluice::service {

struct ChangeStreamOptions {
  using From = follow::KeyspaceReader::From;

  db::KeyspaceId keyspace = 0;
  From from = From::kNow;
  std::optional<FeedPosition> since;  // instead of `from`: after this place
  bool values = true;                 // the documents are used, not only their keys
  uint64_t limit = UINT64_MAX;        // how many changes to give
};

class ChangeStream {
 public:
  // Gets a change and the place after it; false ends the call of Read.
  using Visit = std::function<bool(const db::Change& change, const FeedPosition& position)>;

  // Follows the keyspace for as long as the stream lives. feed.history_gone when `since` is of a
  // keyspace that was dropped.
  static Result<std::unique_ptr<ChangeStream>> Open(db::Database& database,
                                                    ChangeStreamOptions options);

  // Gives at most so many changes and returns how many; 0 when there are no more now.
  Result<size_t> Read(size_t most, const Visit& visit);

  // Whether the next Read continues in the log. If not, it looks through documents, which may take
  // long however little it gives.
  bool InLog() const { return reader_->InLog(); }
  // As many as were asked for have been given.
  bool finished() const { return remaining_ == 0; }
  const FeedPosition& position() const { return position_; }

 private:
  explicit ChangeStream(const ChangeStreamOptions& options);

  Status Start(db::Database& database, ChangeStreamOptions& options);

  uint64_t remaining_;
  std::unique_ptr<follow::KeyspaceReader> reader_;
  FeedPosition position_;  // after the last change given
};

}  // namespace sluice::service
