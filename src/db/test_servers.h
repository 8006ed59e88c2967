// Two servers with one log, for tests: each owns some of the shards, and shards move between them.
// The log refuses a group that does not follow the last one (a CHECK), so a server that writes in a
// shard of the other one ends the test.
//
// Concurrency: owner from any thread; the rest from the test's thread.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "db/database.h"
#include "db/test_shared_log.h"

namespace sluice::db {

class TestServers {
 public:
  static constexpr size_t kServers = 2;

  // The first one owns all shards. The other one is empty, and has nothing of the catalog before it
  // is fed.
  TestServers(const std::string& directory, DatabaseOptions options, const Clock& clock)
      : owner_(options.shards) {
    options.journal = [this](storage::Store& store) {
      return std::make_unique<RecordingJournal>(store, log_);
    };
    for (size_t n = 0; n < kServers; ++n) {
      options.role = n == 0 ? DatabaseRole::kOwner : DatabaseRole::kStandby;
      auto opened = Database::Open(directory + std::to_string(n), options, clock);
      CHECK(opened.has_value());
      databases_[n] = std::move(*opened);
    }
    for (auto& fed : fed_) fed.resize(options.shards);
  }

  Database& operator[](size_t n) { return *databases_[n]; }
  // Whom clients ask. While a shard moves, that server refuses commits.
  size_t owner(ShardId shard) const { return owner_[shard]; }
  Database& OwnerOf(ShardId shard) { return *databases_[owner(shard)]; }
  SharedLog& log() { return log_; }

  // The groups that it has not, unless it owns the shard.
  void Feed(size_t to, ShardId shard) {
    if (databases_[to]->ownership().Owns(shard)) return;
    for (const LoggedGroup& group : log_.From(shard, fed_[to][shard])) {
      ++fed_[to][shard];
      if (group.next <= databases_[to]->followers().LastSequence(shard)) continue;
      const Status applied =
          databases_[to]->ApplyGroup(shard, group.expected, group.next, group.bytes);
      ASSERT_TRUE(applied.ok()) << applied.ToString();
    }
  }
  void FeedAll(size_t to) {
    for (ShardId shard = 0; shard < owner_.size(); ++shard) Feed(to, shard);
  }
  void Move(ShardId shard, size_t to) {
    if (owner(shard) == to) return;
    OwnerOf(shard).ownership().Take(shard);
    Feed(to, kDefinitionsShard);
    Feed(to, shard);
    databases_[to]->ownership().Give(shard);
    owner_[shard] = to;
  }
  void MoveAll(size_t to) {
    for (ShardId shard = 0; shard < owner_.size(); ++shard) Move(shard, to);
  }

 private:
  SharedLog log_;  // outlives the journals
  std::array<std::unique_ptr<Database>, kServers> databases_;
  std::vector<std::atomic<size_t>> owner_;         // by shard
  std::array<std::vector<size_t>, kServers> fed_;  // groups, by server and shard
};

}  // namespace sluice::db
