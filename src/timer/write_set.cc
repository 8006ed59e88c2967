#include "timer/write_set.h"

#include "base/bytes.h"
#include "base/check.h"

namespace sluice::timer {
namespace {

constexpr size_t kRowBytes = 256;  // of a change besides its key and value, about

bool IsName(std::string_view callback) {
  return !callback.empty() && callback.find('\0') == std::string_view::npos;
}

}  // namespace

Result<WriteSet::Row> WriteSet::Read(const std::string& key) {
  if (const auto own = rows_.find(key); own != rows_.end()) return own->second;
  if (const auto known = read_.find(key); known != read_.end()) return known->second;
  std::string value;
  ASSIGN_OR_RETURN(const bool found,
                   database_.rows().Get(db::RowFamily::kTimer, shard_, key, &value));
  Row row = found ? Row(std::move(value)) : std::nullopt;
  read_.emplace(key, row);
  return row;
}

void WriteSet::Set(const std::string& key, Row value) {
  Undo undo{.key = key, .replaced = std::nullopt, .bytes = kRowBytes + 2 * key.size()};
  if (value) undo.bytes += value->size();
  bytes_ += undo.bytes;
  if (const auto found = rows_.find(key); found != rows_.end()) undo.replaced = found->second;
  undo_.push_back(std::move(undo));
  rows_.insert_or_assign(key, std::move(value));
}

Result<std::optional<Moment>> WriteSet::Lookup(const std::string& name_key) {
  ASSIGN_OR_RETURN(const Row row, Read(name_key));
  if (!row) return std::nullopt;
  ASSIGN_OR_RETURN(Moment moment, DecodeName(*row));
  moment.shard = shard_;
  return moment;
}

Status WriteSet::Create(const Timer& timer) {
  if (!IsName(timer.callback)) {
    return Error(Code::kInvalidArgument, "timer.invalid_callback",
                 "a timer's callback must have a name without zero bytes");
  }
  const std::string name_key = NameKey(owner_, timer.callback, timer.reference);
  ASSIGN_OR_RETURN(const std::optional<Moment> present, Lookup(name_key));
  if (present) Set(DueKey(owner_, *present), std::nullopt);
  const std::string due_key = DueKey(owner_, timer.moment);
  read_.emplace(due_key, std::nullopt);  // the id is new
  Set(due_key, EncodeDue(timer));
  Set(name_key, EncodeName(timer.moment));
  return OkStatus();
}

Result<std::optional<Timer>> WriteSet::Find(std::string_view callback, std::string_view reference) {
  if (!IsName(callback)) return std::nullopt;
  ASSIGN_OR_RETURN(const std::optional<Moment> moment,
                   Lookup(NameKey(owner_, callback, reference)));
  if (!moment) return std::nullopt;
  const std::string due_key = DueKey(owner_, *moment);
  ASSIGN_OR_RETURN(const Row row, Read(due_key));
  if (!row) return std::nullopt;  // taken between the two reads: the commit will be refused
  ASSIGN_OR_RETURN(Timer timer, DecodeDue(due_key, *row));
  timer.moment.shard = shard_;
  return timer;
}

Result<bool> WriteSet::Cancel(std::string_view callback, std::string_view reference) {
  if (!IsName(callback)) return false;
  const std::string name_key = NameKey(owner_, callback, reference);
  ASSIGN_OR_RETURN(const std::optional<Moment> moment, Lookup(name_key));
  if (!moment) return false;
  Set(DueKey(owner_, *moment), std::nullopt);
  Set(name_key, std::nullopt);
  return true;
}

Result<std::optional<Timer>> WriteSet::Take(const Moment& moment) {
  CHECK(moment.shard == shard_);
  const std::string due_key = DueKey(owner_, moment);
  ASSIGN_OR_RETURN(const Row row, Read(due_key));
  if (!row) return std::nullopt;
  ASSIGN_OR_RETURN(Timer timer, DecodeDue(due_key, *row));
  timer.moment.shard = shard_;
  const std::string name_key = NameKey(owner_, timer.callback, timer.reference);
  ASSIGN_OR_RETURN(const std::optional<Moment> named, Lookup(name_key));
  Set(due_key, std::nullopt);
  if (named == moment) Set(name_key, std::nullopt);
  return timer;
}

void WriteSet::RollbackTo(size_t savepoint) {
  while (undo_.size() > savepoint) {
    Undo& undo = undo_.back();
    if (undo.replaced) {
      rows_.insert_or_assign(undo.key, std::move(*undo.replaced));
    } else {
      rows_.erase(undo.key);
    }
    bytes_ -= undo.bytes;
    undo_.pop_back();
  }
}

std::optional<uint64_t> WriteSet::earliest_ms() const {
  const std::string prefix = DuePrefix(owner_);
  for (auto row = rows_.lower_bound(prefix); row != rows_.end(); ++row) {
    if (!row->first.starts_with(prefix)) break;
    if (row->second) return ByteReader(std::string_view(row->first).substr(prefix.size())).U64();
  }
  return std::nullopt;
}

void WriteSet::MoveTo(db::Commit* commit) {
  for (auto& [key, value] : rows_) {
    db::RowWrite write{db::RowFamily::kTimer, shard_, key, std::move(value), std::nullopt};
    if (const auto read = read_.find(key); read != read_.end()) {
      if (!write.value && !read->second) continue;  // made and removed by this batch
      write.expected = std::move(read->second);
    }
    commit->rows.push_back(std::move(write));
  }
  rows_.clear();
  read_.clear();
  undo_.clear();
  bytes_ = 0;
}

}  // namespace sluice::timer
