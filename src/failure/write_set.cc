#include "failure/write_set.h"

#include "base/check.h"

namespace sluice::failure {
namespace {

constexpr size_t kRowBytes = 256;  // of a change besides its key and value, about

}  // namespace

void WriteSet::Set(const std::string& key, Row value) {
  bytes_ += kRowBytes + key.size() + (value ? value->size() : 0);
  rows_.insert_or_assign(key, std::move(value));
}

void WriteSet::Count(const Failure& failure, int64_t sign) {
  change_.bytes += sign * static_cast<int64_t>(StoredBytes(failure));
}

// Replaces the failure.
void WriteSet::Put(const Failure& failure) {
  Count(failure, 1);
  Set(FailureKey(owner_, failure.id.stamp), EncodeFailure(failure));
}

Status WriteSet::Add(Failure failure, std::string_view payload, std::optional<uint64_t> due_ms) {
  CHECK(!owner_.empty() && failure.id.shard == shard_);
  failure.payload_bytes = payload.size();
  ++change_.failures;
  Put(failure);
  Set(PayloadKey(owner_, failure.id.stamp), EncodePayload(payload));
  return due_ms ? Retry(failure, *due_ms) : OkStatus();
}

Result<std::optional<Failure>> WriteSet::Find(const FailureId& id) {
  if (id.shard != shard_) return std::nullopt;
  const std::string key = FailureKey(owner_, id.stamp);
  std::string value;
  if (const auto own = rows_.find(key); own != rows_.end()) {
    if (!own->second) return std::nullopt;
    value = *own->second;
  } else {
    ASSIGN_OR_RETURN(const bool found,
                     database_.rows().Get(db::RowFamily::kFailure, shard_, key, &value));
    if (!found) return std::nullopt;
    read_.emplace(key, value);
  }
  ASSIGN_OR_RETURN(Failure failure, DecodeFailure(key, value));
  failure.id.shard = shard_;
  return failure;
}

Result<std::string> WriteSet::Payload(const FailureId& id) const {
  std::string stored;
  ASSIGN_OR_RETURN(const bool found, database_.rows().Get(db::RowFamily::kFailure, shard_,
                                                          PayloadKey(owner_, id.stamp), &stored));
  // Removed since the failure was read: the commit will be refused.
  if (!found) return std::string();
  return DecodePayload(stored);
}

Result<std::optional<WriteSet::Taken>> WriteSet::Take(const timer::Moment& moment) {
  ASSIGN_OR_RETURN(const std::optional<timer::Timer> timer, retries_.Take(moment));
  if (!timer) return std::nullopt;
  ASSIGN_OR_RETURN(const uint64_t stamp, StampOfReference(timer->reference));
  const FailureId id{stamp, shard_};
  ASSIGN_OR_RETURN(std::optional<Failure> failure, Find(id));
  if (!failure) return std::nullopt;
  ASSIGN_OR_RETURN(std::string payload, Payload(id));
  return Taken{std::move(*failure), std::move(payload)};
}

Status WriteSet::Update(const Failure& failure, std::optional<uint64_t> due_ms) {
  ASSIGN_OR_RETURN(const std::optional<Failure> present, Find(failure.id));
  if (!present) return OkStatus();
  Count(*present, -1);
  Put(failure);
  return due_ms ? Retry(failure, *due_ms) : OkStatus();
}

Status WriteSet::SetPayload(Failure failure, std::string_view payload) {
  failure.payload_bytes = payload.size();
  // The count also changes the row, so that commits which depend on it conflict.
  ++failure.edits;
  RETURN_IF_ERROR(Update(failure, std::nullopt));
  Set(PayloadKey(owner_, failure.id.stamp), EncodePayload(payload));
  return OkStatus();
}

Status WriteSet::Retry(const Failure& failure, uint64_t due_ms) {
  return retries_.Create({std::string(kRetryCallback),
                          RetryReference(failure.id.stamp),
                          {.due_ms = due_ms, .id = database_.NewCas()},
                          failure.key});
}

Status WriteSet::Remove(const Failure& failure) {
  ASSIGN_OR_RETURN(const std::optional<Failure> present, Find(failure.id));
  if (!present) return OkStatus();
  --change_.failures;
  Count(*present, -1);
  Set(FailureKey(owner_, failure.id.stamp), std::nullopt);
  Set(PayloadKey(owner_, failure.id.stamp), std::nullopt);
  ASSIGN_OR_RETURN([[maybe_unused]] const bool waited,
                   retries_.Cancel(kRetryCallback, RetryReference(failure.id.stamp)));
  return OkStatus();
}

void WriteSet::MoveTo(db::Commit* commit) {
  for (auto& [key, value] : rows_) {
    db::RowWrite write{db::RowFamily::kFailure, shard_, key, std::move(value), std::nullopt};
    if (const auto read = read_.find(key); read != read_.end()) {
      write.expected = std::move(read->second);
    }
    commit->rows.push_back(std::move(write));
  }
  rows_.clear();
  read_.clear();
  bytes_ = 0;
  retries_.MoveTo(commit);
}

}  // namespace sluice::failure
