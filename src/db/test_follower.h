// A durable follower for tests: reads its feed and consumes the changes in commits that move its
// cursor, keeping the text of each change it consumed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/database.h"
#include "db/feed.h"

namespace sluice::db {

// "insert k -> 1", "update k 1 -> 2", "delete k", ...: images as far as they are there.
inline std::string TextOf(const Change& change) {
  std::string text = fmt::format("{} {}", OperationName(change.operation), change.key);
  if (change.before) text += fmt::format(" {}", change.before->body);
  if (change.after) text += fmt::format(" -> {}", change.after->body);
  return text;
}

// Everything a feed gives now.
inline std::vector<std::string> Drain(Feed& feed) {
  std::vector<std::string> texts;
  while (true) {
    const Result<size_t> read = feed.Read(1000, [&](const Change& change) {
      texts.push_back(TextOf(change));
      return true;
    });
    EXPECT_TRUE(read) << read.error().ToString();
    if (!read || *read == 0) return texts;
  }
}

class TestFollower {
 public:
  TestFollower(Database& database, std::string name, ShardId shard = 0)
      : database_(database), id_{std::move(name), shard, 0} {
    const std::shared_ptr<const Catalog> catalog = database.catalog();
    const FollowerInfo* info = catalog->FindFollower(id_.follower);
    if (info != nullptr) keyspaces_ = info->keyspaces;
    if (info != nullptr && !info->needs_after) content_ = LogContent::kKeys;
  }

  // Consumes up to `max` changes: reads them from where the stored cursor is and moves it past
  // them, with `effects` in the same commit if there are any. Returns their texts; none when the
  // move failed.
  std::vector<std::string> Consume(size_t max = 1000, std::vector<Write> effects = {}) {
    std::vector<std::string> texts;
    const Result<CursorState> start = database_.followers().ReadCursor(id_);
    EXPECT_TRUE(start) << start.error().ToString();
    Feed feed(database_, id_.shard, keyspaces_, *start, content_);
    const Result<size_t> read = feed.Read(max, [&](const Change& change) {
      texts.push_back(TextOf(change));
      return true;
    });
    EXPECT_TRUE(read) << read.error().ToString();
    if (feed.state() == *start) return texts;
    if (texts.empty()) effects.clear();  // it only passes changes of other keyspaces
    if (!Move(*start, feed.state(), std::move(effects)).ok()) texts.clear();
    return texts;
  }
  std::vector<std::string> ConsumeAll(size_t step = 1000) {
    std::vector<std::string> all;
    while (true) {
      const std::vector<std::string> some = Consume(step);
      if (some.empty()) return all;
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  Status Move(const CursorState& from, const CursorState& to, std::vector<Write> effects = {}) {
    Commit commit;
    commit.shard = id_.shard;
    commit.writes = std::move(effects);
    commit.origin = id_.follower;
    commit.cursor_moves.push_back({id_, from, to});
    return database_.Apply(std::move(commit)).status;
  }
  CursorState cursor() const { return *database_.followers().ReadCursor(id_); }

 private:
  Database& database_;
  const CursorId id_;
  std::vector<KeyspaceId> keyspaces_;
  LogContent content_ = LogContent::kDocuments;
};

}  // namespace sluice::db
