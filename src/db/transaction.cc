// A transaction keeps, until it is committed:
//
//   reads_   the sequence of each document that it read from the snapshot (0: there was none)
//   ranges_  the ranges that it scanned
//   writes_  the newest state of each document that it wrote; readers may share it
//   undo_    for each write, the state that it replaced: RollbackTo goes back through it
//
// TakeCommit turns reads and ranges into conditions and writes_ into writes, and leaves the
// transaction empty. With snapshot isolation only the reads of written documents are conditions.
#include "db/transaction.h"

#include "db/conflict_retry.h"
#include "db/reader.h"

namespace sluice::db {

Transaction::Transaction(Database& database, Isolation isolation)
    : Transaction(database, nullptr, isolation) {}

Transaction::Transaction(Database& database, std::shared_ptr<const DatabaseSnapshot> snapshot,
                         Isolation isolation)
    : database_(database), snapshot_(std::move(snapshot)), isolation_(isolation) {}

const DatabaseSnapshot& Transaction::snapshot() const {
  if (snapshot_ == nullptr) snapshot_ = database_.NewSnapshot();
  return *snapshot_;
}

Status Transaction::Join(KeyspaceId keyspace, std::string_view key) {
  RETURN_IF_ERROR(CheckKey(key));
  if (!shard_) shard_ = database_.ShardOf(keyspace, key);
  return OkStatus();
}

// Past this many ranges of one keyspace the transaction depends on all of it: checking them one by
// one would cost more than a needless conflict now and then.
constexpr size_t kMaxRangesPerKeyspace = 64;

Status Transaction::JoinRange(KeyspaceId keyspace, std::string_view from, std::string_view to) {
  if (!shard_) shard_ = kTablesShard;
  size_t here = 0;
  for (const RangeCheck& range : ranges_) {
    if (range.keyspace != keyspace) continue;
    ++here;
    const bool ends_after = range.to.empty() || (!to.empty() && to <= range.to);
    if (range.from <= from && ends_after) return OkStatus();
  }
  if (here >= kMaxRangesPerKeyspace || (from.empty() && to.empty())) {
    std::erase_if(ranges_, [&](const RangeCheck& range) { return range.keyspace == keyspace; });
    from = to = {};
  }
  for (auto shard = static_cast<ShardId>(sequences_.size()); shard < database_.shard_count();
       ++shard) {
    ASSIGN_OR_RETURN(const Sequence sequence, database_.SequenceAt(snapshot(), shard));
    sequences_.push_back(sequence);
  }
  ranges_.push_back({.keyspace = keyspace, .from = std::string(from), .to = std::string(to)});
  return OkStatus();
}

std::vector<RangeCheck> Transaction::TakeRanges() {
  std::vector<RangeCheck> checks;
  for (const RangeCheck& range : std::exchange(ranges_, {})) {
    const bool table = IsTableId(range.keyspace);
    const ShardId last = table ? kTablesShard : static_cast<ShardId>(sequences_.size() - 1);
    for (ShardId shard = table ? kTablesShard : 0; shard <= last; ++shard) {
      RangeCheck& check = checks.emplace_back(range);
      check.shard = shard;
      check.snapshot = sequences_[shard];
    }
  }
  return checks;
}

// Rows say where they belong; without them, the shard of the first document is as good as any.
ShardId Transaction::HomeShard() const {
  for (const RowWrite& row : rows_) {
    if (row.shard) return *row.shard;
  }
  return shard_.value_or(kDefinitionsShard);
}

bool Transaction::Live(const Pending& pending) const {
  return pending != nullptr && DocumentView::Of(*pending).LiveAt(snapshot().time_ms());
}

Result<bool> Transaction::Get(KeyspaceId keyspace, std::string_view key, PinnedDocument* document) {
  RETURN_IF_ERROR(Join(keyspace, key));
  const Where where(keyspace, key);
  if (const auto own = writes_.find(where); own != writes_.end()) {
    if (!Live(own->second)) return false;
    Stamp(own->second);
    document->Hold(own->second);
    return true;
  }
  ASSIGN_OR_RETURN(const bool found, database_.GetRow(keyspace, key, document, &snapshot()));
  reads_[where] = found ? document->view().sequence : 0;
  const bool live = found && document->view().LiveAt(snapshot().time_ms());
  const auto policy = database_.read_forms().PolicyOf(keyspace, &snapshot());
  if (policy == nullptr) return live;
  if (!live) {
    return database_.revisions().GetByKey(*policy, keyspace, key, document, &snapshot());
  }
  RETURN_IF_ERROR(database_.read_forms().PutInReadForm(*policy, keyspace, key, document));
  return true;
}

Result<std::optional<Document>> Transaction::Get(KeyspaceId keyspace, std::string_view key) {
  PinnedDocument document;
  ASSIGN_OR_RETURN(const bool found, Get(keyspace, key, &document));
  if (!found) return std::nullopt;
  return document->Copy();
}

Status Transaction::Scan(KeyspaceId keyspace, std::string_view from, std::string_view to,
                         const ScanVisitor& visitor) {
  const std::unique_ptr<Reader> reader = NewTransactionReader(*this);
  const auto cursor = reader->Scan(keyspace, {std::string(from), std::string(to)});
  while (cursor->Next()) {
    if (!visitor(cursor->key(), cursor->document())) return OkStatus();
  }
  return cursor->status();
}

// About the memory of a write besides its key and document.
constexpr size_t kWriteBytes = 256;

namespace {

uint32_t DocumentBytes(const std::shared_ptr<Document>& pending) {
  if (pending == nullptr) return 0;
  return static_cast<uint32_t>(pending->body.size() + pending->xattrs.size());
}

}  // namespace

Status Transaction::Set(const Where& where, Pending pending, Marks marks) {
  const auto present = writes_.find(where);
  const bool replaces = present != writes_.end();
  const uint32_t document_bytes =
      document_bytes_ + DocumentBytes(pending) - (replaces ? DocumentBytes(present->second) : 0);
  RETURN_IF_ERROR(
      database_.commit_limits().Check(writes_.size() + (replaces ? 0 : 1), document_bytes));
  document_bytes_ = document_bytes;
  ++changes_;
  Undo undo{.where = where, .bytes = kWriteBytes + 2 * where.second.size()};
  undo.bytes += DocumentBytes(pending);
  bytes_ += undo.bytes;
  if (replaces) undo.replaced = present->second;
  if (const auto found = marks_.find(where); found != marks_.end()) {
    undo.marks = found->second;
    marks_.erase(found);
  }
  undo_.push_back(std::move(undo));
  writes_.insert_or_assign(where, std::move(pending));
  if (marks.anonymous || marks.keep_xattrs || marks.touch) marks_.emplace(where, marks);
  return OkStatus();
}

void Transaction::AddRow(RowWrite row) {
  Undo undo{.where = {},
            .bytes = kWriteBytes + row.key.size() + (row.value ? row.value->size() : 0),
            .row = true};
  bytes_ += undo.bytes;
  undo_.push_back(std::move(undo));
  rows_.push_back(std::move(row));
}

void Transaction::Stamp(const Pending& pending) {
  if (pending != nullptr && pending->cas == 0) pending->cas = database_.NewCas();
}

void Transaction::StampAll() {
  for (const auto& [where, pending] : writes_) Stamp(pending);
}

Result<Cas> Transaction::SetDocument(KeyspaceId keyspace, std::string_view key, Document document,
                                     Marks marks) {
  document.cas = database_.NewCas();
  document.sequence = 0;  // given by the commit
  const Cas cas = document.cas;
  RETURN_IF_ERROR(
      Set({keyspace, std::string(key)}, std::make_shared<Document>(std::move(document)), marks));
  return cas;
}

// Checks that the document exists and, if a CAS is given, has that one.
Status Transaction::CheckPresent(KeyspaceId keyspace, std::string_view key, Cas cas,
                                 PinnedDocument* document) {
  ASSIGN_OR_RETURN(const bool found, Get(keyspace, key, document));
  if (!found) {
    return Error(Code::kNotFound, "document.not_found", "there is no document '{}'", key);
  }
  if (cas == 0 || (*document)->cas == cas) return OkStatus();
  return Error(Code::kConflict, "document.cas_mismatch",
               "document '{}' has changed: its CAS is {}, the write expected {}", key,
               (*document)->cas, cas)
      .With("cas", std::to_string((*document)->cas));
}

Result<Cas> Transaction::Put(KeyspaceId keyspace, std::string_view key, Document document,
                             TransactionWriteOptions options) {
  if (options.cas != 0) return Replace(keyspace, key, std::move(document), options);
  RETURN_IF_ERROR(Join(keyspace, key));
  RETURN_IF_ERROR(CheckDocumentSize(DocumentView::Of(document)));
  if (options.keep_expiry) {
    PinnedDocument present;
    ASSIGN_OR_RETURN(const bool found, Get(keyspace, key, &present));
    if (found) document.expiry_ms = present->expiry_ms;
  }
  if (options.unstamped) {
    document.cas = 0;
    document.sequence = 0;
    RETURN_IF_ERROR(Set({keyspace, std::string(key)},
                        std::make_shared<Document>(std::move(document)),
                        {.anonymous = options.anonymous, .keep_xattrs = options.keep_xattrs}));
    return Cas{0};
  }
  return SetDocument(keyspace, key, std::move(document),
                     {.anonymous = options.anonymous, .keep_xattrs = options.keep_xattrs});
}

Result<Cas> Transaction::Insert(KeyspaceId keyspace, std::string_view key, Document document,
                                TransactionWriteOptions options) {
  RETURN_IF_ERROR(CheckDocumentSize(DocumentView::Of(document)));
  PinnedDocument present;
  ASSIGN_OR_RETURN(const bool found, Get(keyspace, key, &present));
  if (found) {
    return Fail(Code::kAlreadyExists, "document.exists", "document '{}' exists already", key);
  }
  return SetDocument(keyspace, key, std::move(document),
                     {.anonymous = options.anonymous, .keep_xattrs = options.keep_xattrs});
}

Result<Cas> Transaction::Replace(KeyspaceId keyspace, std::string_view key, Document document,
                                 TransactionWriteOptions options) {
  RETURN_IF_ERROR(CheckDocumentSize(DocumentView::Of(document)));
  PinnedDocument present;
  RETURN_IF_ERROR(CheckPresent(keyspace, key, options.cas, &present));
  if (options.keep_expiry) document.expiry_ms = present->expiry_ms;
  return SetDocument(keyspace, key, std::move(document),
                     {.anonymous = options.anonymous, .keep_xattrs = options.keep_xattrs});
}

Result<Cas> Transaction::Touch(KeyspaceId keyspace, std::string_view key, uint64_t expiry_ms) {
  PinnedDocument present;
  RETURN_IF_ERROR(CheckPresent(keyspace, key, 0, &present));
  Document document = present->Copy();
  document.expiry_ms = expiry_ms;
  // A document that this transaction wrote keeps its intent: a change, or only a touch.
  const auto own = marks_.find({keyspace, std::string(key)});
  Marks marks = own == marks_.end() ? Marks{} : own->second;
  if (!Wrote(keyspace, key)) marks.touch = true;
  return SetDocument(keyspace, key, std::move(document), marks);
}

Status Transaction::Delete(KeyspaceId keyspace, std::string_view key, Cas cas) {
  PinnedDocument present;
  RETURN_IF_ERROR(CheckPresent(keyspace, key, cas, &present));
  return Set({keyspace, std::string(key)}, nullptr, {});
}

void Transaction::RollbackTo(size_t savepoint) {
  ++changes_;
  while (undo_.size() > savepoint) {
    Undo& undo = undo_.back();
    marks_.erase(undo.where);
    if (undo.marks) marks_.emplace(undo.where, *undo.marks);
    if (undo.row) {
      rows_.pop_back();
    } else {
      const auto present = writes_.find(undo.where);
      document_bytes_ -= DocumentBytes(present->second);
      if (undo.replaced) {
        document_bytes_ += DocumentBytes(*undo.replaced);
        present->second = std::move(*undo.replaced);
      } else {
        writes_.erase(present);
      }
    }
    bytes_ -= undo.bytes;
    undo_.pop_back();
  }
}

// With fewer reads, it costs as much to find out the sequence that they saw as to check them.
constexpr size_t kManyReads = 16;

Write::Seen Transaction::SeenOf(const Where& where) const {
  const auto read = reads_.find(where);
  if (read == reads_.end()) return Write::Seen::kNothing;
  // Its stamp was made for a write that came after the read.
  return read->second == 0 ? Write::Seen::kAbsent : Write::Seen::kOlder;
}

Commit Transaction::TakeCommit() {
  Commit commit;
  commit.shard = HomeShard();
  commit.actor = actor_;
  const bool all = isolation_ == Isolation::kSerialisable;
  for (const auto& [where, sequence] : reads_) {
    if (!all && !writes_.contains(where)) continue;
    commit.reads.push_back({where.first, where.second, sequence});
  }
  if (commit.reads.size() >= kManyReads) {  // used only if all of them are in this shard
    if (auto sequence = database_.SequenceAt(snapshot(), commit.shard)) {
      commit.reads_as_of = *sequence;
    }
  }
  if (all) commit.ranges = TakeRanges();
  ranges_.clear();
  // In the order in which the documents were first written: followers see that order.
  for (const Undo& undo : undo_) {
    if (undo.row) continue;
    const auto node = writes_.extract(undo.where);
    if (node.empty()) continue;  // it was taken already
    const Where& where = node.key();
    const Pending& pending = node.mapped();
    if (pending == nullptr) {
      commit.writes.push_back(DeleteWrite(where.first, where.second));
    } else {
      const bool mine = pending.use_count() == 1;  // no reader holds it
      commit.writes.push_back(
          PutWrite(where.first, where.second, mine ? std::move(*pending) : Document(*pending)));
    }
    commit.writes.back().seen = SeenOf(where);
    if (const auto found = marks_.find(where); found != marks_.end()) {
      commit.writes.back().anonymous = found->second.anonymous;
      commit.writes.back().keep_xattrs = found->second.keep_xattrs;
      if (found->second.touch) commit.writes.back().intent = Write::Intent::kTouch;
    }
  }
  commit.rows = std::exchange(rows_, {});
  ++changes_;
  reads_.clear();
  undo_.clear();
  bytes_ = 0;
  document_bytes_ = 0;
  writes_.clear();
  marks_.clear();
  return commit;
}

CommitResult Transaction::Apply() { return database_.Apply(TakeCommit()); }

Result<CommitResult> RunTransaction(Database& database,
                                    const std::function<Status(Transaction&)>& body) {
  for (ConflictRetry retry;;) {
    Transaction transaction(database);
    RETURN_IF_ERROR(body(transaction));
    CommitResult result = transaction.Apply();
    if (result.status.ok()) return result;
    if (retry.Again(result.status)) continue;
    if (result.status.code() != Code::kConflict) return Unexpected(result.status);
    return Unexpected(result.status.Prefixed(
        fmt::format("the transaction met a conflict {} times", retry.attempt())));
  }
}

}  // namespace sluice::db
