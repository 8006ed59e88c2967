#include "db/feed.h"

#include <algorithm>

#include "base/bytes.h"

namespace sluice::db {

Result<CursorState> Feed::StartAfter(const Database& database, ShardId shard,
                                     const std::vector<KeyspaceId>& keyspaces, Sequence since) {
  CursorState state;
  state.position.sequence = since;
  const bool covered = std::all_of(keyspaces.begin(), keyspaces.end(), [&](KeyspaceId keyspace) {
    return database.LogCovers(keyspace, shard, since);
  });
  if (covered) return state;
  if (since != 0 && !database.TombstonesCover(shard, since)) {
    return Fail(Code::kNotFound, "feed.history_gone",
                "the deletions after sequence {} are no longer known: start again from the "
                "beginning",
                since);
  }
  state.position.sequence = database.LastSequence(shard);
  state.backfilling = true;
  state.backfill_from = since;
  return state;
}

Feed::Feed(const Database& database, ShardId shard, std::vector<KeyspaceId> keyspaces,
           CursorState start)
    : database_(database),
      shard_(shard),
      keyspaces_([&] {
        std::sort(keyspaces.begin(), keyspaces.end());
        return std::move(keyspaces);
      }()),
      state_(std::move(start)) {}

Feed::~Feed() = default;

Result<size_t> Feed::Read(size_t max, const Visitor& visitor) {
  if (state_.backfilling) {
    ASSIGN_OR_RETURN(const size_t given, ReadBackfill(max, visitor));
    if (given > 0 || state_.backfilling) return given;
  }
  return ReadLog(max, visitor);
}

namespace {

// A document as the change that it is to someone who has seen nothing after `from`.
Change ChangeOf(KeyspaceId keyspace, std::string_view key, const DocumentView& view,
                Sequence from) {
  Change change;
  change.sequence = view.sequence;
  change.keyspace = keyspace;
  change.key = key;
  change.time_ms = view.cas / 1'000'000;
  change.cas = view.cas;
  if (view.tombstone) {
    change.operation = view.expired ? Operation::kExpire : Operation::kDelete;
  } else {
    change.operation = from == 0 ? Operation::kInsert : Operation::kUpdate;
    change.after = view;
  }
  return change;
}

}  // namespace

Result<size_t> Feed::ReadBackfill(size_t max, const Visitor& visitor) {
  const uint64_t now_ms = database_.clock().WallMs();
  size_t given = 0;
  for (KeyspaceId keyspace : keyspaces_) {
    if (keyspace < state_.backfill_keyspace) continue;
    const bool resumes = keyspace == state_.backfill_keyspace && !state_.backfill_key.empty();
    storage::IterateOptions options;
    options.lower = DocumentKey(shard_, keyspace, resumes ? state_.backfill_key : "");
    options.upper = PrefixEnd(KeyspacePrefix(shard_, keyspace));
    options.fill_cache = false;
    const auto iterator = database_.store().NewIterator(storage::Family::kDocs, std::move(options));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      const std::string_view key = iterator->key().substr(kDocumentKeyPrefixBytes);
      if (resumes && key == state_.backfill_key) continue;
      ASSIGN_OR_RETURN(const DocumentView view, DecodeDocument(iterator->value()));
      if (view.sequence <= state_.backfill_from || view.sequence > state_.position.sequence) {
        continue;
      }
      if (state_.backfill_from == 0 && !view.LiveAt(now_ms)) continue;
      state_.backfill_keyspace = keyspace;
      state_.backfill_key = key;
      ++state_.events;
      if (!visitor(ChangeOf(keyspace, key, view, state_.backfill_from)) || ++given == max) {
        return given == max ? given : given + 1;
      }
    }
    RETURN_IF_ERROR(iterator->status());
  }
  state_.backfilling = false;
  state_.backfill_from = 0;
  state_.backfill_keyspace = 0;
  state_.backfill_key.clear();
  return given;
}

bool Feed::LogIsThere() const {
  return std::all_of(keyspaces_.begin(), keyspaces_.end(), [&](KeyspaceId keyspace) {
    return database_.LogCovers(keyspace, shard_, state_.position.sequence);
  });
}

Result<size_t> Feed::ReadLog(size_t max, const Visitor& visitor) {
  if (reader_ == nullptr) {
    if (!LogIsThere()) {
      // Trimmed past a follower that does not hold the log. Of a commit that was read in part, all
      // is given again.
      const Sequence seen = state_.position.sequence;
      const bool whole = state_.position.n == UINT32_MAX;
      const uint64_t events = state_.events;
      ASSIGN_OR_RETURN(
          state_, StartAfter(database_, shard_, keyspaces_, whole || seen == 0 ? seen : seen - 1));
      state_.events = events;
      if (state_.backfilling) return ReadBackfill(max, visitor);
    }
    reader_ = std::make_unique<LogReader>(database_.store(), shard_, state_.position, keyspaces_);
  }
  size_t given = 0;
  while (given < max) {
    ASSIGN_OR_RETURN(const Change* change, reader_->Next());
    if (change == nullptr) {
      reader_.reset();  // the next call looks at what is there then
      break;
    }
    state_.position = change->position();
    ++state_.events;
    ++given;
    if (!visitor(*change)) break;
  }
  return given;
}

}  // namespace sluice::db
