#include "follow/keyspace_reader.h"

#include <utility>

#include "base/check.h"

namespace sluice::follow {

Result<std::unique_ptr<KeyspaceReader>> KeyspaceReader::Follow(db::Database& database,
                                                               db::KeyspaceId keyspace) {
  std::unique_ptr<KeyspaceReader> reader(new KeyspaceReader(database, keyspace));
  ASSIGN_OR_RETURN(reader->follows_, database.followers().FollowTransiently(keyspace));
  return reader;
}

Result<std::unique_ptr<KeyspaceReader>> KeyspaceReader::Open(db::Database& database,
                                                             db::KeyspaceId keyspace, From from) {
  ASSIGN_OR_RETURN(std::unique_ptr<KeyspaceReader> reader, Follow(database, keyspace));
  for (db::ShardId shard = 0; shard < database.shard_count(); ++shard) {
    db::CursorState place;
    if (from == From::kEverything) {
      ASSIGN_OR_RETURN(place, db::Feed::StartAfter(database, shard, {keyspace}, 0));
    } else {
      place.position.sequence = database.followers().LastSequence(shard);
    }
    reader->places_.push_back(std::move(place));
  }
  reader->OpenFeeds();
  return reader;
}

Result<std::unique_ptr<KeyspaceReader>> KeyspaceReader::OpenAt(
    db::Database& database, db::KeyspaceId keyspace, std::vector<db::CursorState> places) {
  CHECK(places.size() == database.shard_count());
  ASSIGN_OR_RETURN(std::unique_ptr<KeyspaceReader> reader, Follow(database, keyspace));
  reader->places_ = std::move(places);
  reader->OpenFeeds();
  return reader;
}

void KeyspaceReader::OpenFeeds() {
  for (db::ShardId shard = 0; shard < database_.shard_count(); ++shard) {
    feeds_.push_back(std::make_unique<db::Feed>(
        database_, shard, std::vector<db::KeyspaceId>{keyspace_}, places_[shard]));
  }
}

bool KeyspaceReader::InLog() const {
  for (db::ShardId shard = 0; shard < places_.size(); ++shard) {
    const db::CursorState& place = places_[shard];
    if (place.backfilling ||
        !database_.followers().LogCovers(keyspace_, shard, place.position.done())) {
      return false;
    }
  }
  return true;
}

Result<size_t> KeyspaceReader::Read(size_t max, const Visitor& visitor) {
  size_t given = 0;
  bool stopped = false;
  for (size_t i = 0; i < feeds_.size() && given < max && !stopped; ++i) {
    const size_t shard = (next_shard_ + i) % feeds_.size();
    db::Feed& feed = *feeds_[shard];
    const auto visit = [&](const db::Change& change) {
      places_[shard] = feed.state();
      stopped = !visitor(change);
      return !stopped;
    };
    ASSIGN_OR_RETURN(const size_t read, feed.Read(max - given, visit));
    places_[shard] = feed.state();
    given += read;
  }
  next_shard_ = (next_shard_ + 1) % feeds_.size();
  return given;
}

}  // namespace sluice::follow
