// Invariants:
//   1. A rejected commit leaves no trace: validation fills only staged_, and Accept, which fills
//      the batch and the group's overlay, cannot fail.
//   2. Sequences are dense within a shard; a commit's rows all carry its sequence.
//   3. A document's CAS only grows: stamps made here are given in commit order, and a stamp made
//      earlier by the writer is compared with the present one.
//   4. A document's present row is looked up only if something depends on it: a condition, a
//      mutation, a deletion, an index, the log, or the writer's own stamp. It is read from the
//      store only if it does not follow from one of the commit's reads, which are checked first.
#include "db/group.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/check.h"
#include "db/expiry.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

Status CasMismatch(const Write& write, Cas present) {
  return Error(Code::kConflict, "document.cas_mismatch",
               "document '{}' has changed: its CAS is {}, the write expected {}", write.key,
               present, write.precondition.cas)
      .With("cas", std::to_string(present));
}

bool NeedsPresent(const Write& write, const KeyspaceInfo& keyspace, const ShardState& state) {
  return write.kind != Write::Kind::kPut || write.keep_expiry ||
         (write.keep_xattrs && state.has_xattrs) ||
         (write.document.cas != 0 && write.seen == Write::Seen::kNothing) ||
         write.precondition.kind != Precondition::Kind::kNone || keyspace.logged ||
         keyspace.policy != nullptr ||
         std::ranges::any_of(keyspace.indexes, [](const auto& index) { return index->kept(); });
}

}  // namespace

Group::Group(const Context& context, ShardState state, storage::Batch* batch)
    : context_(context), state_(state), batch_(batch) {
  documents_.reserve(context.commits);
}

CommitResult Group::Add(Commit& commit) {
  CommitResult result = Check(commit);
  if (result.status.ok()) Accept(commit);
  return result;
}

CommitResult Group::Check(Commit& commit) {
  several_writes_ = commit.writes.size() > 1;
  staged_by_key_.clear();
  staged_.clear();
  read_.clear();
  pinned_.clear();
  staged_revisions_.clear();
  read_forms_.clear();
  CommitResult result;
  result.writes.resize(commit.writes.size());
  made_before_ = made_.size();
  state_before_ = state_;
  ++state_.sequence;
  result.status = Validate(commit, &result);
  if (result.status.ok()) {
    result.sequence = state_.sequence;
  } else {
    Reject();
    result.writes.clear();
  }
  return result;
}

void Group::Reject() {
  state_ = state_before_;
  made_.resize(made_before_);
}

ShardState Group::Finish() {
  state_.clock = std::max(state_.clock, context_.clock.Next());
  batch_->Put(storage::Family::kMeta, ShardState::Key(context_.shard), state_.Encode());
  return state_;
}

// --- validation ---------------------------------------------------------------------------------

Status Group::Validate(Commit& commit, CommitResult* result) {
  RETURN_IF_ERROR(CheckReads(commit));
  for (const RangeCheck& range : commit.ranges) RETURN_IF_ERROR(CheckRange(range));
  RETURN_IF_ERROR(CheckCursors(commit));
  RETURN_IF_ERROR(CheckRows(commit));
  for (size_t i = 0; i < commit.writes.size(); ++i) {
    const Status staged = Stage(commit, commit.writes[i], &result->writes[i]);
    if (!staged.ok()) {
      result->failed_write = static_cast<int>(i);
      return staged;
    }
  }
  return CheckUnique(result);
}

// After all writes of the commit are known: two rows may exchange their keys.
Status Group::CheckUnique(CommitResult* result) {
  staged_claims_.clear();
  for (const Staged& staged : staged_) {
    for (const auto& [index, entries] : staged.old_entries) {
      if (!index->definition().unique) continue;
      for (const std::string& entry : entries) {
        staged_claims_[index->Prefix(context_.shard) + entry] = "";
      }
    }
  }
  for (size_t i = 0; i < staged_.size(); ++i) {
    const Staged& staged = staged_[i];
    for (const auto& [index, entries] : staged.new_entries) {
      if (!index->definition().unique) continue;
      for (const std::string& entry : entries) {
        if (!index->IsExclusive(entry)) continue;
        const Status claimed = Claim(*index, entry, staged);
        if (claimed.ok()) continue;
        result->failed_write = static_cast<int>(i);
        return claimed;
      }
    }
  }
  return OkStatus();
}

Status Group::Claim(const Index& index, const std::string& entry, const Staged& staged) {
  const std::string place = index.Prefix(context_.shard) + entry;
  std::string holder;
  if (const auto found = staged_claims_.find(place); found != staged_claims_.end()) {
    holder = found->second;
  } else if (const auto earlier = claims_.find(place); earlier != claims_.end()) {
    holder = earlier->second;
  } else if (const std::string* sent = FindEarlier(&Group::claims_, place)) {
    holder = *sent;
  } else {
    ASSIGN_OR_RETURN(holder, StoredHolder(index, entry, staged.write->key));
  }
  const std::string& key = staged.write->key;
  if (!holder.empty() && holder != key) {
    return Error(Code::kAlreadyExists, "table.duplicate",
                 "table '{}' has a row with this key '{}' already",
                 staged.keyspace->name.collection, index.definition().name)
        .With("key", index.definition().name);
  }
  staged_claims_[place] = key;
  return OkStatus();
}

// The document, other than `key`, that has the entry before this group; empty when there is none.
Result<std::string> Group::StoredHolder(const Index& index, const std::string& entry,
                                        const std::string& key) {
  storage::IterateOptions options;
  options.lower = index.Prefix(context_.shard) + entry;
  options.upper = PrefixEnd(options.lower);
  const auto iterator = context_.store.NewIterator(storage::Family::kIndex, std::move(options));
  const size_t prefix = index.Prefix(context_.shard).size();
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const IndexRow row, DecodeIndexRow(iterator->key().substr(prefix)));
    if (row.parts != entry) break;
    if (row.key != key) return std::string(row.key);
  }
  RETURN_IF_ERROR(iterator->status());
  return std::string();
}

Status Group::CheckReads(const Commit& commit) {
  for (const ReadCheck& read : commit.reads) {
    const std::string row_key = DocumentKey(context_.shard, read.keyspace, read.key);
    if (commit.reads_as_of && context_.last_writes.UnchangedSince(row_key, *commit.reads_as_of)) {
      continue;
    }
    ASSIGN_OR_RETURN(const Present present, Lookup(row_key));
    const Sequence now = present.view == nullptr ? 0 : present.view->sequence;
    if (now != read.sequence) {
      return Error(Code::kConflict, "transaction.conflict",
                   "document '{}' was changed by another transaction after it was read", read.key);
    }
  }
  return OkStatus();
}

Status Group::CheckRange(const RangeCheck& range) {
  const auto conflict = [] {
    return Error(Code::kConflict, "transaction.conflict",
                 "a range of documents was changed by another transaction after it was read");
  };
  // Deletions that left no row behind: purged tombstones, flushed and dropped keyspaces.
  if (range.snapshot < state_.purged || context_.catalog.Find(range.keyspace) == nullptr) {
    return conflict();
  }
  // Nothing was committed since (the state has the sequence of this commit already).
  if (range.snapshot + 1 == state_.sequence) return OkStatus();
  const std::string prefix = KeyspacePrefix(context_.shard, range.keyspace);
  storage::IterateOptions options;
  options.lower = prefix + range.from;
  options.upper = range.to.empty() ? PrefixEnd(prefix) : prefix + range.to;
  bool changed = ChangedWithin(options.lower, options.upper, range.snapshot);
  for (const Group* group : context_.earlier) {
    changed = changed || group->ChangedWithin(options.lower, options.upper, range.snapshot);
  }
  if (changed) return conflict();
  const auto iterator = context_.store.NewIterator(storage::Family::kDocs, std::move(options));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const DocumentView view, DecodeDocument(iterator->value()));
    if (view.sequence > range.snapshot) return conflict();
  }
  return iterator->status();
}

// Whether this group writes a document of the range, as a commit after that one.
bool Group::ChangedWithin(std::string_view from, std::string_view to, Sequence after) const {
  return std::ranges::any_of(documents_, [&](const auto& entry) {
    return entry.first >= from && entry.first < to && entry.second.sequence > after;
  });
}

Status Group::CheckCursors(const Commit& commit) {
  for (const CursorMove& move : commit.cursor_moves) {
    ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                     LookupRow(storage::Family::kCursor, CursorKey(move.cursor)));
    if (stored != EncodeCursor(move.expected)) {
      return Error(Code::kConflict, "cursor.moved",
                   "the cursor of '{}' (shard {}, lane {}) is not where this commit expects it",
                   move.cursor.follower, move.cursor.shard, move.cursor.lane);
    }
  }
  for (const CursorCreate& create : commit.cursor_creates) {
    ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                     LookupRow(storage::Family::kCursor, CursorKey(create.cursor)));
    if (stored) {
      return Error(Code::kAlreadyExists, "cursor.exists", "'{}' has a cursor already",
                   create.cursor.follower);
    }
  }
  return OkStatus();
}

Status Group::CheckRows(const Commit& commit) {
  for (const RowWrite& row : commit.rows) {
    CHECK(row.shard.value_or(context_.shard) == context_.shard);
    if (!row.expected) continue;
    ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                     LookupRow(StoredFamily(row.family), RowKey(context_.shard, row.key)));
    if (stored != *row.expected) {
      return Error(Code::kConflict, "row.changed", "a {} row was changed by another commit",
                   storage::FamilyName(StoredFamily(row.family)));
    }
  }
  return OkStatus();
}

Status Group::Stage(const Commit& commit, Write& write, WriteResult* result) {
  Staged staged;
  staged.write = &write;
  staged.keyspace = context_.catalog.Find(write.keyspace);
  if (staged.keyspace == nullptr) {
    return Error(Code::kNotFound, "keyspace.not_found",
                 "the keyspace of document '{}' does not exist (any more)", write.key);
  }
  staged.row_key = DocumentKey(context_.shard, write.keyspace, write.key);
  if (NeedsPresent(write, *staged.keyspace, state_)) {
    ASSIGN_OR_RETURN(staged.before, PresentOf(write, &staged));
    RETURN_IF_ERROR(CheckPrecondition(write, staged.before));
  }
  if (staged.keyspace->policy != nullptr) {
    RETURN_IF_ERROR(StageTyped(commit, write, &staged, result));
  }
  switch (write.kind) {
    case Write::Kind::kPut:
      RETURN_IF_ERROR(StagePut(write, &staged, result));
      break;
    case Write::Kind::kMutate:
      RETURN_IF_ERROR(StageMutation(write, &staged, result));
      break;
    case Write::Kind::kDelete:
    case Write::Kind::kExpire:
      RETURN_IF_ERROR(StageDelete(write, &staged, result));
      break;
  }
  if (!staged.after.xattrs.empty()) state_.has_xattrs = true;
  const bool silent = write.intent == Write::Intent::kMigrate && !write.announced;
  staged.logged = staged.keyspace->logged && !staged.skip && !silent;
  RETURN_IF_ERROR(StageIndexes(&staged));
  staged_.push_back(std::move(staged));
  if (several_writes_ && !staged_.back().skip) {
    staged_by_key_[staged_.back().row_key] = &staged_.back();
  }
  return OkStatus();
}

Status Group::CheckPrecondition(const Write& write, const Present& present) const {
  switch (write.precondition.kind) {
    case Precondition::Kind::kNone:
      return OkStatus();
    case Precondition::Kind::kAbsent:
      if (!present.live) return OkStatus();
      return Error(Code::kAlreadyExists, "document.exists", "document '{}' exists already",
                   write.key)
          .With("cas", std::to_string(present.view->cas));
    case Precondition::Kind::kPresent:
    case Precondition::Kind::kCas:
      if (!present.live) {
        return Error(Code::kNotFound, "document.not_found", "there is no document '{}'", write.key);
      }
      if (write.precondition.kind == Precondition::Kind::kCas &&
          present.view->cas != write.precondition.cas) {
        return CasMismatch(write, present.view->cas);
      }
      if (write.only_over && present.view->body != *write.only_over) {
        return CasMismatch(write, present.view->cas);
      }
      return OkStatus();
  }
  return OkStatus();
}

void Group::LimitExpiry(const KeyspaceInfo& keyspace, Document* document) const {
  if (keyspace.max_expiry_ms == 0) return;
  const uint64_t latest = context_.now_ms + keyspace.max_expiry_ms;
  if (document->expiry_ms == 0 || document->expiry_ms > latest) document->expiry_ms = latest;
}

Status Group::StagePut(Write& write, Staged* staged, WriteResult* result) {
  Document& document = write.document;
  if (document.cas == 0) {
    document.cas = context_.clock.Next();
  } else if (staged->before.view != nullptr && staged->before.view->cas >= document.cas) {
    return Error(Code::kConflict, "document.cas_behind",
                 "document '{}' was written with a newer stamp in the meantime", write.key);
  }
  document.sequence = state_.sequence;
  if (write.intent == Write::Intent::kMigrate && !write.announced && staged->before.live) {
    // For readers it is the same document, so it keeps its version.
    document.cas = staged->before.view->cas;
    document.sequence = staged->before.view->sequence;
  }
  if (staged->before.live) {
    if (write.keep_expiry) document.expiry_ms = staged->before.view->expiry_ms;
    if (write.keep_xattrs) document.xattrs = staged->before.view->xattrs;
  }
  if (write.intent != Write::Intent::kMigrate) LimitExpiry(*staged->keyspace, &document);
  staged->after = DocumentView::Of(document);
  result->cas = document.cas;
  return CheckDocumentSize(staged->after);
}

Status Group::StageMutation(Write& write, Staged* staged, WriteResult* result) {
  Result<Mutated> mutated = write.mutation(staged->before.live ? staged->before.view : nullptr);
  if (!mutated) return std::move(mutated).error();
  if (mutated->remove) {
    staged->skip = !staged->before.live;
    if (!staged->skip) staged->after = Tombstone(false);
  } else {
    made_.push_back(std::move(mutated->document));
    Document& document = made_.back();
    document.cas = context_.clock.Next();
    document.sequence = state_.sequence;
    LimitExpiry(*staged->keyspace, &document);
    staged->after = DocumentView::Of(document);
  }
  result->cas = staged->after.cas;
  result->reply = std::move(mutated->reply);
  return CheckDocumentSize(staged->after);
}

Status Group::StageDelete(const Write& write, Staged* staged, WriteResult* result) {
  const DocumentView* present = staged->before.view;
  if (write.kind == Write::Kind::kExpire) {
    staged->skip = present == nullptr || present->tombstone ||
                   present->expiry_ms != write.document.expiry_ms ||
                   !present->ExpiredAt(context_.now_ms);
  } else {
    staged->skip = !staged->before.live;
  }
  if (staged->skip) return OkStatus();
  staged->after = Tombstone(write.kind == Write::Kind::kExpire);
  result->cas = staged->after.cas;
  return OkStatus();
}

DocumentView Group::Tombstone(bool expired) {
  DocumentView tombstone;
  tombstone.tombstone = true;
  tombstone.expired = expired;
  tombstone.cas = context_.clock.Next();
  tombstone.sequence = state_.sequence;
  return tombstone;
}

Status Group::StageIndexes(Staged* staged) {
  if (staged->skip) return OkStatus();
  for (const std::shared_ptr<const Index>& index : staged->keyspace->indexes) {
    if (!index->kept()) continue;
    const DocumentView* before = staged->before.view;
    if (before != nullptr && before->tombstone) before = nullptr;
    before = AsRead(*staged, before);
    if (before != nullptr) {
      // A document that can't be indexed is older than the index, which is being built: no rows.
      if (auto entries = index->Entries(staged->write->key, *before)) {
        staged->old_entries.emplace_back(index.get(), std::move(*entries));
      }
    }
    const DocumentView* after = AsRead(*staged, staged->after.tombstone ? nullptr : &staged->after);
    if (after != nullptr) {
      ASSIGN_OR_RETURN(auto entries, index->Entries(staged->write->key, *after));
      staged->new_entries.emplace_back(index.get(), std::move(entries));
    }
  }
  return OkStatus();
}

// --- lookups ------------------------------------------------------------------------------------

// The read of the writer's thread still holds if neither this commit nor another one wrote the
// document since. `seen` holds if this commit did not write it.
Result<Group::Present> Group::PresentOf(const Write& write, Staged* staged) {
  ReadAhead* const ahead = write.prepared == nullptr ? nullptr : write.prepared->ahead.get();
  const bool own = staged_by_key_.contains(staged->row_key);
  if (own || ahead == nullptr ||
      !context_.last_writes.UnchangedSince(staged->row_key, ahead->as_of)) {
    if (!own && write.seen == Write::Seen::kAbsent) return Present{};
    return Lookup(staged->row_key);
  }
  staged->ahead = ahead;
  if (!ahead->found) return Present{};
  return Present{&ahead->present.view(), ahead->present->LiveAt(context_.now_ms)};
}

Result<Group::Present> Group::Lookup(const std::string& row_key) {
  const auto present = [this](const DocumentView* view) {
    return Present{view, view->LiveAt(context_.now_ms)};
  };
  // A write of this commit comes first.
  if (const auto found = staged_by_key_.find(row_key); found != staged_by_key_.end()) {
    return present(&found->second->after);
  }
  if (const auto found = documents_.find(row_key); found != documents_.end()) {
    return present(&found->second);
  }
  if (const DocumentView* sent = FindEarlier(&Group::documents_, row_key)) return present(sent);
  storage::PinnedValue& value = pinned_.emplace_back();
  ASSIGN_OR_RETURN(const bool found, context_.store.Get(storage::Family::kDocs, row_key, &value));
  if (!found) {
    pinned_.pop_back();
    return Present{};
  }
  ASSIGN_OR_RETURN(const DocumentView view, DecodeDocument(value.view()));
  return present(&read_.emplace_back(view));
}

Result<std::optional<std::string>> Group::LookupRow(storage::Family family,
                                                    const std::string& key) {
  const std::pair<storage::Family, std::string> place(family, key);
  if (const auto found = rows_.find(place); found != rows_.end()) return found->second;
  if (const auto* sent = FindEarlier(&Group::rows_, place)) return *sent;
  std::string value;
  ASSIGN_OR_RETURN(const bool found, context_.store.Get(family, key, &value));
  if (!found) return std::nullopt;
  return value;
}

// --- emitting: nothing below can fail -----------------------------------------------------------

void Group::Accept(const Commit& commit) {
  std::unordered_map<KeyspaceId, const Staged*> last;
  for (const Staged& staged : staged_) {
    if (staged.logged) last[staged.keyspace->id] = &staged;
  }
  staged_by_key_.clear();  // it points into the keys that are moved now
  uint32_t n = 0;
  for (Staged& staged : staged_) {
    if (staged.skip) continue;
    EmitDocument(staged);
    EmitRevisions(staged);
    if (staged.logged) {
      logged_.insert(staged.keyspace->id);
      EmitLog(commit, staged, last[staged.keyspace->id] == &staged, &n);
    }
    EmitIndexes(staged);
    context_.last_writes.Note(staged.row_key, state_.sequence);
    documents_.insert_or_assign(std::move(staged.row_key), staged.after);
    ++write_count_;
  }
  for (auto& [place, holder] : staged_claims_) claims_[place] = std::move(holder);
  EmitCursors(commit);
  for (const RowWrite& row : commit.rows) {
    const storage::Family family = StoredFamily(row.family);
    std::string key = RowKey(context_.shard, row.key);
    if (row.value) {
      batch_->Put(family, key, *row.value);
    } else {
      batch_->Delete(family, key);
    }
    if (row.family == RowFamily::kRevision) {
      context_.last_writes.Note(RevisedRowKey(key), state_.sequence);
    }
    rows_.insert_or_assign({family, std::move(key)}, row.value);
  }
}

void Group::EmitDocument(const Staged& staged) {
  const std::string header = EncodeDocumentHeader(staged.after);
  const std::array<std::string_view, 2> parts = {header, staged.after.body};
  batch_->PutParts(storage::Family::kDocs, staged.row_key, parts);
  if (staged.after.tombstone) {
    const uint64_t due = context_.now_ms + context_.tombstone_retention_ms;
    batch_->Put(storage::Family::kExpiry, ExpiryKey(due, staged.row_key),
                ExpiryValue(ExpiryKind::kTombstone));
  } else if (staged.after.expiry_ms != 0) {
    batch_->Put(storage::Family::kExpiry, ExpiryKey(staged.after.expiry_ms, staged.row_key),
                ExpiryValue(ExpiryKind::kDocument));
  }
}

void Group::EmitLog(const Commit& commit, const Staged& staged, bool last_of_keyspace,
                    uint32_t* n) {
  Change change;
  change.sequence = state_.sequence;
  change.keyspace = staged.keyspace->id;
  change.key = staged.write->key;
  change.time_ms = context_.now_ms;
  if (!staged.write->anonymous) change.origin = commit.origin;
  change.cas = staged.after.cas;
  const DocumentView* before = staged.before.view;
  if (before != nullptr && before->tombstone) before = nullptr;
  const auto set_before = [&] {
    if (staged.keyspace->log_before && before != nullptr) change.before = *before;
  };
  const bool expired_unseen = before != nullptr && !staged.before.live;
  if (expired_unseen && staged.write->kind != Write::Kind::kExpire) {
    // The document has expired, and the background has not deleted it yet: followers see that
    // first.
    change.operation = Operation::kExpire;
    change.n = (*n)++;
    set_before();
    EmitLogRow(change);
    before = nullptr;
    change.before.reset();
  }
  change.n = (*n)++;
  change.last_of_keyspace = last_of_keyspace;
  set_before();
  if (staged.after.tombstone) {
    change.operation = staged.after.expired ? Operation::kExpire : Operation::kDelete;
  } else {
    change.operation = before == nullptr ? Operation::kInsert : Operation::kUpdate;
    if (staged.keyspace->log_after) change.after = staged.after;
  }
  EmitLogRow(change);
}

void Group::EmitLogRow(const Change& change) {
  const std::string header = EncodeLogHeader(change);
  const std::string key = LogKey(context_.shard, change.sequence, change.n);
  if (!change.after) {
    batch_->Put(storage::Family::kLog, key, header);
    return;
  }
  const std::string document_header = EncodeDocumentHeader(*change.after);
  const std::array<std::string_view, 3> parts = {header, document_header, change.after->body};
  batch_->PutParts(storage::Family::kLog, key, parts);
}

void Group::EmitIndexes(const Staged& staged) {
  for (const auto& [index, entries] : staged.old_entries) {
    for (const std::string& entry : entries) {
      batch_->Delete(storage::Family::kIndex,
                     index->RowKey(context_.shard, entry, staged.write->key));
    }
  }
  for (const auto& [index, entries] : staged.new_entries) {
    index->PutRows(context_.shard, staged.write->key, entries, staged.after.expiry_ms, batch_);
  }
}

void Group::EmitCursors(const Commit& commit) {
  const auto put = [this](const CursorId& cursor, const CursorState& state) {
    const std::string key = CursorKey(cursor);
    std::string value = EncodeCursor(state);
    batch_->Put(storage::Family::kCursor, key, value);
    rows_.insert_or_assign({storage::Family::kCursor, key}, std::move(value));
  };
  for (const CursorCreate& create : commit.cursor_creates) {
    CursorState state;
    state.position.sequence = state_.sequence;
    state.backfilling = create.everything;
    put(create.cursor, state);
    new_followers_.insert(create.cursor.follower);
  }
  for (const CursorMove& move : commit.cursor_moves) put(move.cursor, move.next);
}

}  // namespace sluice::db
