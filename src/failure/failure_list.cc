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

std::unique_ptr<db::RowIterator> Rows(const db::Database& database, std::string lower,
                                      std::string upper) {
  db::RowRange options;
  options.from = std::move(lower);
  options.to = std::move(upper);
  return database.rows().NewIterator(db::RowFamily::kFailure, std::move(options));
}

Status VisitRows(const db::Database& database, std::string_view owner, uint64_t from,
                 const std::function<bool(Failure failure)>& visitor) {
  const auto rows = Rows(database, FailureKey(owner, from), PrefixEnd(ListPrefix(owner)));
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(Failure failure, DecodeFailure(rows->key(), rows->value()));
    if (!visitor(std::move(failure))) return OkStatus();
  }
  return rows->status();
}

Status NotFound(uint64_t id) {
  return Error(Code::kNotFound, "failure.not_found", "there is no failure {}", id);
}

// When the failure is tried again.
Result<std::optional<uint64_t>> DueOf(const db::Database& database, std::string_view owner,
                                      uint64_t id) {
  timer::WriteSet retries(database, RetryOwner(owner));
  ASSIGN_OR_RETURN(const std::optional<timer::Timer> timer,
                   retries.Find(kRetryCallback, RetryReference(id)));
  return timer ? std::optional(timer->moment.due_ms) : std::nullopt;
}

}  // namespace

FailureList::FailureList(db::Database& database, std::string owner)
    : database_(database), owner_(std::move(owner)) {}

Status FailureList::Load() {
  int64_t failures = 0;
  int64_t bytes = 0;
  RETURN_IF_ERROR(VisitRows(database_, owner_, 0, [&](const Failure& failure) {
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

Status FailureList::Visit(uint64_t from, const Visitor& visitor) const {
  Status failed;
  RETURN_IF_ERROR(VisitRows(database_, owner_, from, [&](Failure failure) {
    const auto due_ms = DueOf(database_, owner_, failure.id);
    if (!due_ms) failed = due_ms.error();
    return failed.ok() && visitor({std::move(failure), *due_ms});
  }));
  return failed;
}

Result<FailureList::Item> FailureList::Find(uint64_t id) const {
  WriteSet write_set(database_, owner_);
  ASSIGN_OR_RETURN(std::optional<Failure> failure, write_set.Find(id));
  if (!failure) return Unexpected(NotFound(id));
  ASSIGN_OR_RETURN(const std::optional<uint64_t> due_ms, DueOf(database_, owner_, id));
  return Item{std::move(*failure), due_ms};
}

Result<std::string> FailureList::Payload(uint64_t id) const {
  return WriteSet(database_, owner_).Payload(id);
}

Status FailureList::Apply(const std::function<Status(WriteSet&)>& change) {
  for (db::ConflictRetry retry;;) {
    WriteSet write_set(database_, owner_);
    RETURN_IF_ERROR(change(write_set));
    db::Commit commit;
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

Status FailureList::One(uint64_t id, const Step& step) {
  return Apply([&](WriteSet& write_set) -> Status {
    ASSIGN_OR_RETURN(const std::optional<Failure> failure, write_set.Find(id));
    return failure ? step(write_set, *failure) : NotFound(id);
  });
}

// Applies `step` to the failures that exist at the start; failures that are added later are left
// alone.
Result<uint64_t> FailureList::All(const Step& step) {
  std::vector<uint64_t> ids;
  RETURN_IF_ERROR(VisitRows(database_, owner_, 0, [&](const Failure& failure) {
    ids.push_back(failure.id);
    return true;
  }));
  uint64_t changed = 0;
  for (size_t at = 0; at < ids.size(); at += kFailuresPerCommit) {
    uint64_t count = 0;
    RETURN_IF_ERROR(Apply([&](WriteSet& write_set) -> Status {
      count = 0;
      for (size_t i = at; i < std::min(ids.size(), at + kFailuresPerCommit); ++i) {
        ASSIGN_OR_RETURN(const std::optional<Failure> failure, write_set.Find(ids[i]));
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

Status FailureList::Retry(uint64_t id, uint64_t due_ms) {
  return One(id, [&](WriteSet& write_set, const Failure& failure) {
    return write_set.Retry(failure, due_ms);
  });
}

Result<uint64_t> FailureList::RetryAll(uint64_t due_ms) {
  return All([&](WriteSet& write_set, const Failure& failure) {
    return write_set.Retry(failure, due_ms);
  });
}

Status FailureList::Change(uint64_t id, const Edit& edit) {
  return One(id, [&](WriteSet& write_set, Failure failure) -> Status {
    ASSIGN_OR_RETURN(std::string payload, write_set.Payload(id));
    RETURN_IF_ERROR(edit(failure, payload));
    return write_set.SetPayload(std::move(failure), payload);
  });
}

Status FailureList::Drop(uint64_t id) {
  return One(id,
             [](WriteSet& write_set, const Failure& failure) { return write_set.Remove(failure); });
}

Result<uint64_t> FailureList::DropAll() {
  return All([](WriteSet& write_set, const Failure& failure) { return write_set.Remove(failure); });
}

bool FailureList::TooMuch() const { return failures_ > most_failures_ || bytes_ > most_bytes_; }

// The failures to drop in one commit: dead ones first, then others.
Result<std::vector<uint64_t>> FailureList::Oldest() const {
  const int64_t spare_failures = failures_ - most_failures_;
  const int64_t spare_bytes = bytes_ - most_bytes_;
  std::vector<uint64_t> picked;
  int64_t picked_bytes = 0;
  const auto enough = [&] {
    return picked.size() == kFailuresPerCommit ||
           (static_cast<int64_t>(picked.size()) >= spare_failures && picked_bytes >= spare_bytes);
  };
  for (const bool dead : {true, false}) {
    RETURN_IF_ERROR(Visit(0, [&](const Item& item) {
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
    ASSIGN_OR_RETURN(const std::vector<uint64_t> oldest, Oldest());
    if (oldest.empty()) break;  // others have dropped them
    uint64_t count = 0;
    RETURN_IF_ERROR(Apply([&](WriteSet& write_set) -> Status {
      count = 0;
      for (const uint64_t id : oldest) {
        ASSIGN_OR_RETURN(const std::optional<Failure> failure, write_set.Find(id));
        if (!failure) continue;
        RETURN_IF_ERROR(write_set.Remove(*failure));
        ++count;
      }
      return OkStatus();
    }));
    dropped += count;
  }
  return dropped;
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
  RETURN_IF_ERROR(timer::DropOwner(database, RetryOwner(owner)));
  const std::string prefix = OwnerPrefix(owner);
  const auto rows = Rows(database, prefix, PrefixEnd(prefix));
  db::Commit commit;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    commit.rows.push_back(
        {db::RowFamily::kFailure, std::string(rows->key()), std::nullopt, std::nullopt});
    if (commit.rows.size() < 2 * kFailuresPerCommit) continue;
    RETURN_IF_ERROR(database.Apply(std::exchange(commit, {})).status);
  }
  RETURN_IF_ERROR(rows->status());
  return commit.rows.empty() ? OkStatus() : database.Apply(std::move(commit)).status;
}

}  // namespace sluice::failure
