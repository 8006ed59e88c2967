#include "failure/failure_list.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/mutex.h"
#include "db/conflict_retry.h"
#include "timer/owned.h"

namespace sluice::failure {
namespace {

constexpr size_t kFailuresPerCommit = 500;

Status VisitRows(const db::Database& database, std::string_view owner, const FailureId& from,
                 const std::function<bool(Failure failure)>& visitor) {
  const auto rows = database.rows().NewIteratorOfAll(
      db::RowFamily::kFailure,
      {.from = FailureKey(owner, from.stamp), .to = PrefixEnd(ListPrefix(owner))});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(Failure failure, DecodeFailure(rows->key(), rows->value()));
    failure.id.shard = rows->shard();
    if (failure.id < from) continue;
    if (!visitor(std::move(failure))) return OkStatus();
  }
  return rows->status();
}

Status NotFound(const FailureId& id) {
  return Error(Code::kNotFound, "failure.not_found", "there is no failure {}", ToText(id));
}

// When the failure is tried again.
Result<std::optional<uint64_t>> DueOf(const db::Database& database, std::string_view owner,
                                      const FailureId& id) {
  timer::WriteSet retries(database, id.shard, RetryOwner(owner));
  ASSIGN_OR_RETURN(const std::optional<timer::Timer> timer,
                   retries.Find(kRetryCallback, RetryReference(id.stamp)));
  return timer ? std::optional(timer->moment.due_ms) : std::nullopt;
}

}  // namespace

FailureList::FailureList(db::Database& database, std::string owner)
    : database_(database), owner_(std::move(owner)) {}

Status FailureList::Load() {
  int64_t failures = 0;
  int64_t bytes = 0;
  RETURN_IF_ERROR(VisitRows(database_, owner_, {}, [&](const Failure& failure) {
    ++failures;
    bytes += static_cast<int64_t>(StoredBytes(failure));
    return true;
  }));
  failures_ = failures;
  bytes_ = bytes;
  return OkStatus();
}

uint64_t FailureList::kept() const {
  return static_cast<uint64_t>(std::max<int64_t>(failures_, 0));
}

Result<uint64_t> FailureList::CountWaiting() const {
  uint64_t count = 0;
  RETURN_IF_ERROR(timer::Visit(database_, RetryOwner(owner_), {}, [&](const timer::Timer&) {
    ++count;
    return true;
  }));
  return count;
}

Status FailureList::Visit(const FailureId& from, const Visitor& visitor) const {
  Status failed;
  RETURN_IF_ERROR(VisitRows(database_, owner_, from, [&](Failure failure) {
    const auto due_ms = DueOf(database_, owner_, failure.id);
    if (!due_ms) failed = due_ms.error();
    return failed.ok() && visitor({std::move(failure), *due_ms});
  }));
  return failed;
}

Result<FailureList::Item> FailureList::Find(const FailureId& id) const {
  if (id.shard >= database_.shard_count()) return Unexpected(NotFound(id));
  WriteSet write_set(database_, id.shard, owner_);
  ASSIGN_OR_RETURN(std::optional<Failure> failure, write_set.Find(id));
  if (!failure) return Unexpected(NotFound(id));
  ASSIGN_OR_RETURN(const std::optional<uint64_t> due_ms, DueOf(database_, owner_, id));
  return Item{std::move(*failure), due_ms};
}

Result<std::string> FailureList::Payload(const FailureId& id) const {
  return WriteSet(database_, id.shard, owner_).Payload(id);
}

Status FailureList::Apply(db::ShardId shard, const std::function<Status(WriteSet&)>& change) {
  for (db::ConflictRetry retry;;) {
    WriteSet write_set(database_, shard, owner_);
    RETURN_IF_ERROR(change(write_set));
    db::Commit commit;
    commit.shard = shard;
    write_set.MoveTo(&commit);
    const Status applied = database_.Apply(std::move(commit)).status;
    if (applied.ok()) {
      failures_ += write_set.change().failures;
      bytes_ += write_set.change().bytes;
    }
    if (retry.Again(applied)) continue;
    if (applied.code() != Code::kConflict) return applied;
    return Error(Code::kConflict, "failure.conflict",
                 "other commits changed the failures on each of {} attempts", retry.attempt());
  }
}

Status FailureList::One(const FailureId& id, const Step& step) {
  if (id.shard >= database_.shard_count()) return NotFound(id);
  return Apply(id.shard, [&](WriteSet& write_set) -> Status {
    ASSIGN_OR_RETURN(const std::optional<Failure> failure, write_set.Find(id));
    return failure ? step(write_set, *failure) : NotFound(id);
  });
}

// Applies `step` to the failures that exist at the start; failures that are added later are left
// alone.
Result<uint64_t> FailureList::All(const Step& step) {
  std::vector<FailureId> ids;
  RETURN_IF_ERROR(VisitRows(database_, owner_, {}, [&](const Failure& failure) {
    ids.push_back(failure.id);
    return true;
  }));
  return Each(std::move(ids), step);
}

Result<uint64_t> FailureList::Each(std::vector<FailureId> ids, const Step& step) {
  std::ranges::stable_sort(ids, {}, &FailureId::shard);
  uint64_t changed = 0;
  for (auto at = ids.begin(); at != ids.end();) {
    const auto begin = at;
    const auto most = begin + std::min<ptrdiff_t>(kFailuresPerCommit, ids.end() - begin);
    at = std::find_if(begin, most, [&](const FailureId& id) { return id.shard != begin->shard; });
    uint64_t count = 0;
    RETURN_IF_ERROR(Apply(begin->shard, [&](WriteSet& write_set) -> Status {
      count = 0;
      for (auto id = begin; id != at; ++id) {
        ASSIGN_OR_RETURN(const std::optional<Failure> failure, write_set.Find(*id));
        if (!failure) continue;
        RETURN_IF_ERROR(step(write_set, *failure));
        ++count;
      }
      return OkStatus();
    }));
    changed += count;
  }
  return changed;
}

Status FailureList::Retry(const FailureId& id, uint64_t due_ms) {
  return One(id, [&](WriteSet& write_set, const Failure& failure) {
    return write_set.Retry(failure, due_ms);
  });
}

Result<uint64_t> FailureList::RetryAll(uint64_t due_ms) {
  return All([&](WriteSet& write_set, const Failure& failure) {
    return write_set.Retry(failure, due_ms);
  });
}

Status FailureList::Change(const FailureId& id, const Edit& edit) {
  return One(id, [&](WriteSet& write_set, Failure failure) -> Status {
    ASSIGN_OR_RETURN(std::string payload, write_set.Payload(id));
    RETURN_IF_ERROR(edit(failure, payload));
    return write_set.SetPayload(std::move(failure), payload);
  });
}

Status FailureList::Drop(const FailureId& id) {
  return One(id,
             [](WriteSet& write_set, const Failure& failure) { return write_set.Remove(failure); });
}

Result<uint64_t> FailureList::DropAll() {
  return All([](WriteSet& write_set, const Failure& failure) { return write_set.Remove(failure); });
}

bool FailureList::TooMuch() const { return failures_ > most_failures_ || bytes_ > most_bytes_; }

// The failures to drop in one commit: dead ones first, then others.
Result<std::vector<FailureId>> FailureList::Oldest() const {
  const int64_t spare_failures = failures_ - most_failures_;
  const int64_t spare_bytes = bytes_ - most_bytes_;
  std::vector<FailureId> picked;
  int64_t picked_bytes = 0;
  const auto enough = [&] {
    return picked.size() == kFailuresPerCommit ||
           (static_cast<int64_t>(picked.size()) >= spare_failures && picked_bytes >= spare_bytes);
  };
  for (const bool dead : {true, false}) {
    RETURN_IF_ERROR(Visit({}, [&](const Item& item) {
      if (enough()) return false;
      if (item.due_ms.has_value() == dead) return true;
      picked.push_back(item.failure.id);
      picked_bytes += static_cast<int64_t>(StoredBytes(item.failure));
      return true;
    }));
  }
  return picked;
}

Result<uint64_t> FailureList::Committed(const SizeChange& change) {
  failures_ += change.failures;
  bytes_ += change.bytes;
  if (!TooMuch()) return 0;
  const MutexLock lock(trim_mutex_);
  uint64_t dropped = 0;
  while (TooMuch()) {
    ASSIGN_OR_RETURN(std::vector<FailureId> oldest, Oldest());
    if (oldest.empty()) break;  // others have dropped them
    ASSIGN_OR_RETURN(const uint64_t count,
                     Each(std::move(oldest), [](WriteSet& write_set, const Failure& failure) {
                       return write_set.Remove(failure);
                     }));
    dropped += count;
  }
  return dropped;
}

Result<std::vector<std::string>> Owners(const db::Database& database) {
  std::vector<std::string> owners;
  const auto rows = database.rows().NewIteratorOfAll(db::RowFamily::kFailure);
  for (rows->SeekToFirst(); rows->Valid(); rows->Seek(PrefixEnd(OwnerPrefix(owners.back())))) {
    ASSIGN_OR_RETURN(const std::string_view owner, OwnerOf(rows->key()));
    owners.emplace_back(owner);
  }
  RETURN_IF_ERROR(rows->status());
  return owners;
}

Status DropOwnerIn(db::Database& database, db::ShardId shard, std::string_view owner) {
  RETURN_IF_ERROR(timer::DropOwnerIn(database, shard, RetryOwner(owner)));
  const std::string prefix = OwnerPrefix(owner);
  const auto rows = database.rows().NewIterator(db::RowFamily::kFailure, shard,
                                                {.from = prefix, .to = PrefixEnd(prefix)});
  db::Commit commit;
  const auto apply_if = [&](size_t least) {
    if (commit.rows.size() < least) return OkStatus();
    commit.shard = shard;
    return database.Apply(std::exchange(commit, {})).status;
  };
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    commit.rows.push_back(
        {db::RowFamily::kFailure, shard, std::string(rows->key()), std::nullopt, std::nullopt});
    RETURN_IF_ERROR(apply_if(2 * kFailuresPerCommit));
  }
  RETURN_IF_ERROR(rows->status());
  return apply_if(1);
}

Status DropOwner(db::Database& database, std::string_view owner) {
  for (db::ShardId shard = 0; shard < database.shard_count(); ++shard) {
    RETURN_IF_ERROR(DropOwnerIn(database, shard, owner));
  }
  return OkStatus();
}

}  // namespace sluice::failure
