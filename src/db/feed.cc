#include "db/feed.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "db/database_impl.h"

namespace sluice::db {

namespace {

Status HistoryGone(Sequence since) {
  return Error(Code::kNotFound, "feed.history_gone",
               "the deletions after sequence {} are no longer known: start again from the "
               "beginning",
               since);
}

bool LogCoversAll(const Database& database, ShardId shard, const std::vector<KeyspaceId>& keyspaces,
                  Sequence position, LogContent content) {
  return std::all_of(keyspaces.begin(), keyspaces.end(), [&](KeyspaceId keyspace) {
    return database.followers().LogCovers(keyspace, shard, position, content);
  });
}

}  // namespace

Result<CursorState> Feed::StartAfter(const Database& database, ShardId shard,
                                     const std::vector<KeyspaceId>& keyspaces, Sequence since) {
  CursorState state;
  state.position.sequence = since;
  if (LogCoversAll(database, shard, keyspaces, since, LogContent::kDocuments)) return state;
  if (since != 0 && !database.followers().TombstonesCover(shard, since))
    return Unexpected(HistoryGone(since));
  state.position.sequence = database.followers().LastSequence(shard);
  state.backfilling = true;
  state.backfill_from = since;
  return state;
}

Feed::Feed(const Database& database, ShardId shard, std::vector<KeyspaceId> keyspaces,
           CursorState start, LogContent content)
    : database_(database),
      shard_(shard),
      keyspaces_([&] {
        std::sort(keyspaces.begin(), keyspaces.end());
        return std::move(keyspaces);
      }()),
      content_(content),
      state_(std::move(start)) {}

Result<std::unique_ptr<Feed>> Feed::OfFollower(const Database& database, ShardId shard,
                                               const std::string& follower, CursorState start) {
  const std::shared_ptr<const Catalog> catalog = database.catalog();
  const FollowerInfo* info = catalog->FindFollower(follower);
  if (info == nullptr) {
    return Fail(Code::kNotFound, "follower.not_found", "there is no follower '{}'", follower);
  }
  auto feed = std::make_unique<Feed>(database, shard, info->keyspaces, std::move(start));
  if (info->pattern) {
    feed->follower_ = follower;
    feed->version_ = catalog->version();
  }
  return feed;
}

Feed::~Feed() = default;

// For a follower with a pattern the feed reads the rows of all keyspaces: a keyspace that is not in
// its list may be a new one. The catalog with that keyspace was published before the row was
// written.
std::unique_ptr<LogReader> Feed::MakeReader(Sequence last) const {
  return std::make_unique<LogReader>(StoreOf(database_), shard_, state_.position,
                                     follower_.empty() ? keyspaces_ : std::vector<KeyspaceId>(),
                                     last);
}

Result<const Change*> Feed::NextChange() {
  while (true) {
    ASSIGN_OR_RETURN(const Change* change, reader_->Next());
    if (change == nullptr || follower_.empty() || Follows(change->keyspace)) return change;
  }
}

bool Feed::Follows(KeyspaceId keyspace) {
  if (std::ranges::binary_search(keyspaces_, keyspace)) return true;
  const std::shared_ptr<const Catalog> catalog = database_.catalog();
  if (catalog->version() == version_) return false;
  version_ = catalog->version();
  if (const FollowerInfo* info = catalog->FindFollower(follower_)) keyspaces_ = info->keyspaces;
  return std::ranges::binary_search(keyspaces_, keyspace);
}

const Change& Feed::InReadForm(const Change& change) {
  const auto policy = database_.read_forms().PolicyOf(change.keyspace, nullptr);
  if (policy == nullptr || policy->read_form().empty()) return change;
  bool other = false;
  const auto convert = [&](const std::optional<DocumentView>& from, std::optional<DocumentView>* to,
                           std::string* holder) {
    if (!from || !policy->ReadsOtherwise(change.key, *from)) return;
    auto body = policy->AsRead(change.key, *from);
    if (body && !*body) return;
    if (!std::exchange(other, true)) shown_ = change;
    if (!body) {
      if (to == &shown_.after) shown_.unreadable = std::move(body).error();
      return;
    }
    *holder = std::move(**body);
    (*to)->body = *holder;
  };
  convert(change.before, &shown_.before, &before_body_);
  convert(change.after, &shown_.after, &after_body_);
  return other ? shown_ : change;
}

Result<size_t> Feed::Read(size_t max, const Visitor& visitor) {
  if (max == 0) return 0;
  if (state_.backfilling) {
    ASSIGN_OR_RETURN(const size_t given, ReadBackfill(max, visitor));
    if (given > 0 || state_.backfilling) return given;
  }
  return ReadLog(max, visitor);
}

namespace {

// A document as a change, for a follower that has seen nothing after `from`.
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
    const auto iterator =
        StoreOf(database_).NewIterator(storage::Family::kDocs, std::move(options));
    if (state_.backfill_from != 0 &&
        !database_.followers().TombstonesCover(shard_, state_.backfill_from)) {
      return Unexpected(HistoryGone(state_.backfill_from));
    }
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
      const Change change = ChangeOf(keyspace, key, view, state_.backfill_from);
      if (!visitor(InReadForm(change)) || ++given == max) {
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

// Makes a reader of the rest of a commit that was read in part, when the log after that commit has
// gaps. The commit was read from the log, so the log has all of it, unless it was trimmed.
bool Feed::OpenRestOfCommit() {
  const LogPosition& at = state_.position;
  if (at.n == UINT32_MAX) return false;
  std::unique_ptr<LogReader> reader = MakeReader(at.sequence);
  if (database_.followers().LogTrimmed(shard_) >= at.sequence) return false;
  reader_ = std::move(reader);
  return true;
}

// Makes reader_, or begins a backfill when the log was trimmed past a follower that does not hold
// it. The backfill repeats all of a commit that was read in part and then trimmed.
Status Feed::OpenLog() {
  while (reader_ == nullptr && !state_.backfilling) {
    std::unique_ptr<LogReader> reader = MakeReader();
    const Sequence done = state_.position.done();
    if (LogCoversAll(database_, shard_, keyspaces_, done, content_)) {
      reader_ = std::move(reader);
      continue;
    }
    if (OpenRestOfCommit()) continue;
    const uint64_t events = state_.events;
    ASSIGN_OR_RETURN(state_, StartAfter(database_, shard_, keyspaces_, done));
    state_.events = events;
  }
  return OkStatus();
}

Result<size_t> Feed::ReadLog(size_t max, const Visitor& visitor) {
  // A reader from an earlier call does not see newer commits, and a reader of the rest of a commit
  // sees nothing after that commit.
  const bool stale = reader_ != nullptr;
  RETURN_IF_ERROR(OpenLog());
  if (state_.backfilling) return ReadBackfill(max, visitor);
  const bool within_commit = state_.position.n != UINT32_MAX;
  size_t given = 0;
  while (given < max) {
    ASSIGN_OR_RETURN(const Change* change, NextChange());
    if (change == nullptr) {
      state_.position = reader_->position();
      reader_.reset();  // the next call makes a new one
      if (given == 0 && (stale || within_commit)) return ReadLog(max, visitor);
      break;
    }
    state_.position = reader_->position();
    ++state_.events;
    ++given;
    if (!visitor(InReadForm(*change))) break;
  }
  return given;
}

}  // namespace sluice::db
