#include "db/group_contents.h"

#include <algorithm>
#include <optional>
#include <set>

#include "db/cursor.h"
#include "db/log.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

class FactFinder final : public storage::BatchVisitor {
 public:
  explicit FactFinder(ShardId shard) : prefix_(RowKey(shard)), shard_key_(ShardState::Key(shard)) {}

  void Put(storage::Family family, std::string_view key, std::string_view value) override {
    CheckShard(key);
    if (family == storage::Family::kMeta && key == shard_key_) {
      Note(ShardState::Decode(value), [&](ShardState found) { state = found; });
    } else if (family == storage::Family::kLog) {
      Change change;
      Status read = DecodeLogRow(key, value, &change);
      if (!read.ok()) problem = std::move(read);
      keyspaces.insert(change.keyspace);
    } else if (family == storage::Family::kCursor) {
      // Most of them are moves. Coverage that is known already does not change.
      Note(DecodeCursorKey(key), [&](CursorId cursor) { followers.insert(cursor.follower); });
    }
  }
  void Delete(storage::Family, std::string_view key) override { CheckShard(key); }
  // All cursors of a follower in the shard are deleted together.
  void DeleteRange(storage::Family family, std::string_view from, std::string_view) override {
    CheckShard(from);
    if (family != storage::Family::kCursor) return;
    const auto first_lane = DecodeCursorKey(std::string(from) + std::string(2, '\0'));
    if (first_lane) unfollowed.insert(first_lane->follower);
  }

  std::optional<ShardState> state;
  std::set<KeyspaceId> keyspaces;
  std::set<std::string> followers;
  std::set<std::string> unfollowed;
  Status problem;

 private:
  template <typename T, typename Take>
  void Note(Result<T> read, Take take) {
    if (read) {
      take(*std::move(read));
    } else {
      problem = read.error();
    }
  }
  void CheckShard(std::string_view key) {
    if (key.starts_with(prefix_)) return;
    problem = Error(Code::kCorruption, "group.corrupt", "a row belongs to another shard");
  }

  const std::string prefix_;
  const std::string shard_key_;
};

}  // namespace

Result<FoundInBatch> FindInBatch(const storage::Batch& batch, ShardId shard) {
  FactFinder finder(shard);
  batch.ForEach(finder);
  if (!finder.state || !finder.problem.ok()) {
    return Fail(Code::kCorruption, "group.corrupt", "a group of shard {} {}", shard,
                finder.state ? "has rows that can't be read: " + finder.problem.message()
                             : "has no row of the shard");
  }
  FoundInBatch found{*finder.state, {}};
  found.committed.sequence = finder.state->sequence;
  found.committed.keyspaces.assign(finder.keyspaces.begin(), finder.keyspaces.end());
  found.committed.meta_keys = MetaKeysOf(batch, shard);
  found.committed.followers.assign(finder.followers.begin(), finder.followers.end());
  found.committed.unfollowed.assign(finder.unfollowed.begin(), finder.unfollowed.end());
  return found;
}

std::vector<std::string> MetaKeysOf(const storage::Batch& batch, ShardId shard) {
  std::vector<std::string> keys;
  const std::string prefix = RowKey(shard);
  const std::string own = ShardState::Key(shard);
  for (const std::string& key : batch.meta_keys()) {
    if (key != own && key.starts_with(prefix)) keys.emplace_back(KeyInShard(key));
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace sluice::db
