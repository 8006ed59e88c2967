#include "timer/owned.h"

#include <utility>

#include "base/bytes.h"

namespace sluice::timer {
namespace {

constexpr size_t kRowsPerCommit = 4096;

std::unique_ptr<db::RowIterator> Rows(const db::Database& database, std::string lower,
                                      std::string upper) {
  db::RowRange options;
  options.from = std::move(lower);
  options.to = std::move(upper);
  return database.rows().NewIterator(db::RowFamily::kTimer, std::move(options));
}

}  // namespace

Status Visit(const db::Database& database, std::string_view owner, const Moment& from,
             const Visitor& visitor) {
  const auto rows = Rows(database, DueKey(owner, from), PrefixEnd(DuePrefix(owner)));
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(Timer timer, DecodeDue(rows->key(), rows->value()));
    if (!visitor(std::move(timer))) return OkStatus();
  }
  return rows->status();
}

Result<std::vector<std::string>> Owners(const db::Database& database) {
  std::vector<std::string> owners;
  const auto rows = Rows(database, "", "");
  for (rows->SeekToFirst(); rows->Valid(); rows->Seek(PrefixEnd(OwnerPrefix(owners.back())))) {
    ASSIGN_OR_RETURN(const std::string_view owner, OwnerOf(rows->key()));
    owners.emplace_back(owner);
  }
  RETURN_IF_ERROR(rows->status());
  return owners;
}

Status DropOwner(db::Database& database, std::string_view owner) {
  const std::string prefix = OwnerPrefix(owner);
  const auto rows = Rows(database, prefix, PrefixEnd(prefix));
  db::Commit commit;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    commit.rows.push_back(
        {db::RowFamily::kTimer, std::string(rows->key()), std::nullopt, std::nullopt});
    if (commit.rows.size() < kRowsPerCommit) continue;
    RETURN_IF_ERROR(database.Apply(std::exchange(commit, {})).status);
  }
  RETURN_IF_ERROR(rows->status());
  return commit.rows.empty() ? OkStatus() : database.Apply(std::move(commit)).status;
}

}  // namespace sluice::timer
