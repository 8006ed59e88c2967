#include "timer/owned.h"

#include <utility>

#include "base/bytes.h"

namespace sluice::timer {
namespace {

constexpr size_t kRowsPerCommit = 4096;

}  // namespace

Status DropOwnerIn(db::Database& database, db::ShardId shard, std::string_view owner) {
  const std::string prefix = OwnerPrefix(owner);
  const auto rows = database.rows().NewIterator(db::RowFamily::kTimer, shard,
                                                {.from = prefix, .to = PrefixEnd(prefix)});
  db::Commit commit;
  const auto apply_if = [&](size_t least) {
    if (commit.rows.size() < least) return OkStatus();
    commit.shard = shard;
    return database.Apply(std::exchange(commit, {})).status;
  };
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    commit.rows.push_back(
        {db::RowFamily::kTimer, shard, std::string(rows->key()), std::nullopt, std::nullopt});
    RETURN_IF_ERROR(apply_if(kRowsPerCommit));
  }
  RETURN_IF_ERROR(rows->status());
  return apply_if(1);
}

Status VisitIn(const db::Database& database, db::ShardId shard, std::string_view owner,
               const Moment& from, const Visitor& visitor) {
  const auto rows =
      database.rows().NewIterator(db::RowFamily::kTimer, shard,
                                  {.from = DueKey(owner, from), .to = PrefixEnd(DuePrefix(owner))});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(Timer timer, DecodeDue(rows->key(), rows->value()));
    timer.moment.shard = shard;
    if (!visitor(std::move(timer))) return OkStatus();
  }
  return rows->status();
}

Status Visit(const db::Database& database, std::string_view owner, const Moment& from,
             const Visitor& visitor) {
  const auto rows = database.rows().NewIteratorOfAll(
      db::RowFamily::kTimer, {.from = DueKey(owner, from), .to = PrefixEnd(DuePrefix(owner))});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(Timer timer, DecodeDue(rows->key(), rows->value()));
    timer.moment.shard = rows->shard();
    if (timer.moment < from) continue;
    if (!visitor(std::move(timer))) return OkStatus();
  }
  return rows->status();
}

Result<std::vector<std::string>> Owners(const db::Database& database) {
  std::vector<std::string> owners;
  const auto rows = database.rows().NewIteratorOfAll(db::RowFamily::kTimer);
  for (rows->SeekToFirst(); rows->Valid(); rows->Seek(PrefixEnd(OwnerPrefix(owners.back())))) {
    ASSIGN_OR_RETURN(const std::string_view owner, OwnerOf(rows->key()));
    owners.emplace_back(owner);
  }
  RETURN_IF_ERROR(rows->status());
  return owners;
}

}  // namespace sluice::timer
