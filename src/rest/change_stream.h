// The changes of one keyspace (follow/keyspace_reader.h) as server-sent events, from a given place
// on: what a feed connection reads. Memory is bounded by one chunk and one document, whatever is
// behind.
//
// Open and Read block; one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "db/database.h"
#include "follow/keyspace_reader.h"
#include "rest/feed_position.h"

namespace sluice::rest {

struct ChangeStreamOptions {
  using From = follow::KeyspaceReader::From;

  db::KeyspaceId keyspace = 0;
  From from = From::kNow;
  std::optional<FeedPosition> since;  // instead of `from`: after this place
  bool values = true;
  uint64_t limit = UINT64_MAX;  // how many changes to give
};

class ChangeStream {
 public:
  // Follows the keyspace for as long as the stream lives. feed.history_gone when `since` is of a
  // keyspace that was dropped.
  static Result<std::unique_ptr<ChangeStream>> Open(db::Database& database,
                                                    ChangeStreamOptions options);

  struct Budget {
    size_t rows;
    size_t bytes;
  };
  // Appends events until one of the limits is reached and returns how many; 0 when all that is
  // there has been given.
  Result<size_t> Read(Budget budget, std::string* out);

  // Whether the next Read continues in the log. If not, it looks through documents, which may take
  // long however little it gives.
  bool InLog() const { return reader_->InLog(); }
  // As many as were asked for have been given.
  bool finished() const { return remaining_ == 0; }
  const FeedPosition& position() const { return position_; }

 private:
  explicit ChangeStream(const ChangeStreamOptions& options);

  Status Start(db::Database& database, ChangeStreamOptions& options);
  void AppendChange(const db::Change& change, std::string* out) const;

  const bool values_;
  uint64_t remaining_;
  std::unique_ptr<follow::KeyspaceReader> reader_;
  FeedPosition position_;  // after the last change given
};

}  // namespace sluice::rest
