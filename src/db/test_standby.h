// A standby that is fed from a shared log, and the comparison with its owner, row by row.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"
#include "db/catalog_rows.h"
#include "db/database_impl.h"
#include "db/test_shared_log.h"
#include "json/print.h"

namespace sluice::db {

inline void ExpectSameRows(const storage::Store& expected, const storage::Store& found) {
  for (size_t i = 0; i < storage::kFamilyCount; ++i) {
    const auto family = static_cast<storage::Family>(i);
    SCOPED_TRACE(storage::FamilyName(family));
    const auto a = expected.NewIterator(family, {});
    const auto b = found.NewIterator(family, {});
    a->SeekToFirst();
    b->SeekToFirst();
    for (; a->Valid() && b->Valid(); a->Next(), b->Next()) {
      ASSERT_EQ(ToHex(a->key()), ToHex(b->key()));
      ASSERT_EQ(ToHex(a->value()), ToHex(b->value())) << ToHex(a->key());
    }
    ASSERT_FALSE(a->Valid()) << "a row is missing: " << ToHex(a->key());
    ASSERT_FALSE(b->Valid()) << "a row is too much: " << ToHex(b->key());
    ASSERT_TRUE(a->status().ok() && b->status().ok());
  }
}

// Everything in a catalog that statements and commits see.
inline std::string Describe(const Catalog& catalog) {
  std::string text;
  for (const auto& [bucket, info] : catalog.buckets()) {
    for (const auto& [scope, collections] : info.scopes) {
      text += fmt::format("{}.{}:", bucket, scope);
      for (const auto& [name, id] : collections.collections)
        text += fmt::format(" {}={}", name, id);
      text += "\n";
    }
  }
  for (const auto& [id, keyspace] : catalog.keyspaces()) {
    text += fmt::format("{} {} logged {} {} {}", id, json::ToText(ToJson(*keyspace)),
                        keyspace->logged, keyspace->log_before, keyspace->log_after);
    for (const auto& index : keyspace->indexes) text += " " + json::ToText(ToJson(*index));
    for (const TypeDefinition& type : keyspace->types) text += " " + type.name + type.text;
    text += keyspace->policy == nullptr ? "\n" : " policy " + keyspace->policy->read_form() + "\n";
  }
  for (const auto& [name, follower] : catalog.followers()) {
    text += json::ToText(ToJson(follower)) + "\n";
  }
  return text;
}

class TestStandby {
 public:
  TestStandby(std::string directory, DatabaseOptions options, const Clock& clock, SharedLog& log)
      : directory_(std::move(directory)), options_(std::move(options)), clock_(clock), log_(log) {
    options_.role = DatabaseRole::kStandby;
    options_.journal = nullptr;
    Reopen();
  }

  Database& database() { return *database_; }
  void Reopen() {
    opened_again_ = database_ != nullptr;
    database_.reset();
    auto opened = Database::Open(directory_, options_, clock_);
    ASSERT_TRUE(opened) << opened.error().ToString();
    database_ = std::move(*opened);
  }

  // Feeds what is new, the shards in any order, and compares everything with the owner, which must
  // not be at work.
  void CatchUp(const Database& owner) {
    std::map<ShardId, std::vector<LoggedGroup>> left;
    for (ShardId shard = 0; shard < owner.shard_count(); ++shard) {
      auto groups = log_.From(shard, fed_[shard]);
      fed_[shard] += groups.size();
      if (!groups.empty()) left[shard] = {groups.rbegin(), groups.rend()};
    }
    while (!left.empty()) {
      const auto chosen =
          std::next(left.begin(), static_cast<ptrdiff_t>(random_.Below(left.size())));
      const LoggedGroup group = std::move(chosen->second.back());
      const Status applied =
          database_->ApplyGroup(chosen->first, group.expected, group.next, group.bytes);
      ASSERT_TRUE(applied.ok()) << applied.ToString();
      chosen->second.pop_back();
      if (chosen->second.empty()) left.erase(chosen);
    }
    ExpectSame(owner);
  }

  void ExpectSame(const Database& owner) {
    ExpectSameRows(StoreOf(owner), StoreOf(*database_));
    EXPECT_EQ(Describe(*owner.catalog()), Describe(*database_->catalog()));
    for (ShardId shard = 0; shard < owner.shard_count(); ++shard) {
      const Followers& theirs = owner.followers();
      const Followers& ours = database_->followers();
      EXPECT_EQ(theirs.LastSequence(shard), ours.LastSequence(shard));
      EXPECT_EQ(theirs.LogTrimmed(shard), ours.LogTrimmed(shard));
      const ShardState state = *ShardState::Load(StoreOf(owner), shard);
      EXPECT_EQ(ours.TombstonesCover(shard, state.purged), true);
      EXPECT_EQ(ours.TombstonesCover(shard, state.purged - 1), state.purged == 0);
      EXPECT_GT(database_->NewCas(), state.clock);
    }
    ExpectCoverage(owner);
  }

 private:
  // Whether a follower with cursors needs this. One that could not be made, nor dropped, has none.
  static bool HasCursor(const Database& owner, KeyspaceId keyspace, LogContent content) {
    return std::ranges::any_of(owner.catalog()->followers(), [&](const auto& entry) {
      const auto& [name, follower] = entry;
      return std::ranges::binary_search(follower.keyspaces, keyspace) &&
             (content == LogContent::kKeys || follower.needs_after) &&
             owner.followers().ReadCursor({name, 0, 0}).has_value();
    });
  }

  // In the shard of the catalog a standby knows the log to be complete where its owner does. In the
  // others that depends on which shard was fed first. One that was opened again knows what is
  // behind the cursors.
  void ExpectCoverage(const Database& owner) {
    const Sequence last = owner.followers().LastSequence(0);
    std::vector<Sequence> positions = {last};
    if (!opened_again_) {
      positions.insert(positions.end(), {0, owner.followers().LogTrimmed(0), last / 2});
    }
    for (const auto& [id, keyspace] : owner.catalog()->keyspaces()) {
      for (const Sequence position : positions) {
        for (const LogContent content : {LogContent::kKeys, LogContent::kDocuments}) {
          if (!owner.followers().LogCovers(id, 0, position, content)) continue;
          if (opened_again_ && !HasCursor(owner, id, content)) continue;
          EXPECT_TRUE(database_->followers().LogCovers(id, 0, position, content))
              << keyspace->name.ToString() << " from " << position;
        }
      }
    }
  }

  const std::string directory_;
  DatabaseOptions options_;
  const Clock& clock_;
  SharedLog& log_;
  std::map<ShardId, size_t> fed_;
  Random random_{1};
  bool opened_again_ = false;
  std::unique_ptr<Database> database_;
};

}  // namespace sluice::db
