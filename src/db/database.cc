#include "db/database.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <semaphore>

#include "base/bytes.h"
#include "base/check.h"
#include "base/log.h"
#include "base/random.h"
#include "base/wait_scope.h"
#include "db/catalog_edit.h"
#include "db/catalog_rows.h"
#include "db/commit_parts.h"
#include "db/database_impl.h"
#include "db/index.h"
#include "db/row_key.h"
#include "db/stored_cursor.h"
#include "db/typed_writes.h"

namespace sluice::db {
namespace {

// A document's row key on the stack: a point read makes no allocation.
class RowKeyBuffer {
 public:
  RowKeyBuffer(ShardId shard, KeyspaceId keyspace, std::string_view key) {
    CHECK(key.size() <= kMaxKeyBytes);
    bytes_[0] = static_cast<char>(shard >> 8);
    bytes_[1] = static_cast<char>(shard);
    for (int i = 0; i < 4; ++i) bytes_[2 + i] = static_cast<char>(keyspace >> (24 - 8 * i));
    std::memcpy(bytes_.data() + kDocumentKeyPrefixBytes, key.data(), key.size());
    size_ = kDocumentKeyPrefixBytes + key.size();
  }
  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, kDocumentKeyPrefixBytes + kMaxKeyBytes> bytes_;
  size_t size_;
};

const storage::Snapshot* StoreSnapshot(const DatabaseSnapshot* snapshot) {
  return snapshot == nullptr ? nullptr : &snapshot->store();
}

}  // namespace

// --- opening ------------------------------------------------------------------------------------

DatabaseImpl::~DatabaseImpl() {
  if (shared != nullptr) shared->Stop();
  StopBackground();
  for (auto& committer : committers) committer->Stop();
  if (store == nullptr) return;
  // The next start has nothing to replay.
  if (const Status flushed = store->Flush(); !flushed.ok()) {
    log::Warn("the store could not be flushed while closing; the next start replays its log",
              {{"error", flushed.ToString()}});
  }
}

Status DatabaseImpl::OpenStore() {
  RETURN_IF_ERROR(MakeDirectory(directory));
  ASSIGN_OR_RETURN(const std::optional<DirectoryFormat> found, ReadFormat(directory));
  storage::StoreOptions store_options = options.store;
  store_options.create_if_missing = !found.has_value();
  ASSIGN_OR_RETURN(store, storage::Store::Open(StorePath(directory), store_options));
  if (found) {
    format = *found;
    return OkStatus();
  }
  format.shards = options.shards;
  format.id = NewUuid();
  return WriteFormat(directory, format);
}

Status DatabaseImpl::Open() {
  RETURN_IF_ERROR(OpenStore());
  ASSIGN_OR_RETURN(std::shared_ptr<const Catalog> stored,
                   CatalogEdit::Load(*store, options.index_compiler.get(), &policies));
  typed = stored->typed();
  catalog_.Set(std::move(stored));
  const bool sync = options.durability == Durability::kSync;
  journal = options.journal ? options.journal(*store)
                            : std::make_unique<EmbeddedJournal>(
                                  *store, sync ? storage::Sync::kYes : storage::Sync::kNo);
  std::vector<ShardState> states;
  Cas floor = 0;
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    ASSIGN_OR_RETURN(const ShardState state, ShardState::Load(*store, shard));
    floor = std::max(floor, state.clock);
    states.push_back(state);
  }
  stamps = std::make_unique<HybridClock>(clock, floor);
  const CommitterOptions committer_options{
      options.tombstone_retention_ms, options.max_queued_commits,
      std::max(options.max_queued_bytes, 2 * options.commit_limits.bytes), format.shards,
      options.answer_within_ms};
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    committers.push_back(std::make_unique<Committer>(
        shard, *store, *journal, clock, *stamps, [this] { return CurrentCatalog(); },
        [this, shard](const storage::Batch& batch, const Committed& committed) {
          FollowGroup(shard, batch, committed);
        },
        states[shard], committer_options));
  }
  shared = std::make_unique<SharedCommits>(
      committers, clock, *stamps, [this] { return CurrentCatalog(); }, cut,
      SharedCommitsOptions{committer_options.max_queued_commits, committer_options.max_queued_bytes,
                           options.answer_within_ms});
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    RETURN_IF_ERROR(LoadCoverage(shard));
    ASSIGN_OR_RETURN(const bool marked, IsIncomplete(shard));
    if (marked) incomplete.Lock()->insert(shard);
  }
  ownership.Add(this);
  return options.role == DatabaseRole::kOwner ? GiveAll() : OkStatus();
}

std::shared_ptr<const Catalog> DatabaseImpl::CurrentCatalog() const { return catalog_.Copy(); }

Result<std::unique_ptr<Database>> Database::Open(const std::string& directory,
                                                 DatabaseOptions options, const Clock& clock) {
  if (options.shards == 0 || options.shards > kMaxShards) {
    return Fail(Code::kInvalidArgument, "storage.shards", "expected 1 to {} shards, got {}",
                kMaxShards, options.shards);
  }
  auto impl = std::make_unique<DatabaseImpl>(directory, std::move(options), clock);
  RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<Database>(new Database(std::move(impl)));
}

Database::Database(std::unique_ptr<DatabaseImpl> impl)
    : impl_(std::move(impl)),
      admin_(*impl_),
      followers_(*impl_),
      rows_(*impl_->store, impl_->format.shards),
      read_forms_(*this, *impl_),
      revisions_(*this, *impl_),
      estimates_(*this),
      operations_(*impl_),
      shard_copies_(*impl_) {}
Database::~Database() = default;

// --- reading ------------------------------------------------------------------------------------

std::shared_ptr<const Catalog> Database::catalog() const { return impl_->CurrentCatalog(); }

Result<KeyspaceId> Database::Resolve(const KeyspaceName& name) const {
  ASSIGN_OR_RETURN(const auto keyspace, catalog()->Resolve(name));
  return keyspace->id;
}

Result<bool> Database::GetRow(KeyspaceId keyspace, std::string_view key, PinnedDocument* document,
                              const DatabaseSnapshot* snapshot) const {
  if (key.size() > kMaxKeyBytes) return false;
  const RowKeyBuffer row(ShardOf(keyspace, key), keyspace, key);
  ASSIGN_OR_RETURN(const bool found, impl_->store->Get(storage::Family::kDocs, row.view(),
                                                       document->value(), StoreSnapshot(snapshot)));
  if (!found) return false;
  RETURN_IF_ERROR(document->Decode());
  return true;
}

Result<bool> Database::Get(KeyspaceId keyspace, std::string_view key, PinnedDocument* document,
                           const DatabaseSnapshot* snapshot) const {
  ASSIGN_OR_RETURN(const bool found, GetRow(keyspace, key, document, snapshot));
  const bool live = found && IsLive(document->view(), snapshot);
  if (!impl_->typed.load(std::memory_order_relaxed)) return live;
  return read_forms_.FinishRead(live, keyspace, key, document, snapshot);
}

bool Database::IsLive(const DocumentView& document, const DatabaseSnapshot* snapshot) const {
  if (document.tombstone) return false;
  // Most documents never expire: this saves them a look at the clock.
  if (document.expiry_ms == 0) return true;
  return document.LiveAt(snapshot == nullptr ? impl_->clock.WallMs() : snapshot->time_ms());
}

Result<std::optional<Document>> Database::Get(KeyspaceId keyspace, std::string_view key) const {
  PinnedDocument document;
  ASSIGN_OR_RETURN(const bool found, Get(keyspace, key, &document));
  if (!found) return std::nullopt;
  return document->Copy();
}

Status Database::GetRows(KeyspaceId keyspace, std::span<const std::string_view> keys,
                         std::vector<PinnedDocument>* documents, std::vector<bool>* found,
                         const DatabaseSnapshot* snapshot) const {
  documents->resize(keys.size());
  std::string bytes;  // all row keys; views into it are taken when it no longer grows
  for (std::string_view key : keys) {
    bytes.append(KeyspacePrefix(ShardOf(keyspace, key), keyspace)).append(key);
  }
  std::vector<std::string_view> row_keys;
  std::vector<storage::PinnedValue*> values;
  row_keys.reserve(keys.size());
  values.reserve(keys.size());
  size_t at = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const size_t size = kDocumentKeyPrefixBytes + keys[i].size();
    row_keys.push_back(std::string_view(bytes).substr(at, size));
    values.push_back((*documents)[i].value());
    at += size;
  }
  RETURN_IF_ERROR(impl_->store->GetMany(storage::Family::kDocs, row_keys, values, found,
                                        StoreSnapshot(snapshot)));
  for (size_t i = 0; i < keys.size(); ++i) {
    if ((*found)[i]) RETURN_IF_ERROR((*documents)[i].Decode());
  }
  return OkStatus();
}

DocumentRange RangeOf(const ScanOptions& options) {
  DocumentRange range{options.from, options.to, options.reverse};
  range.on_unreadable = options.on_unreadable;
  if (options.prefix > range.from) range.from = options.prefix;
  const std::string prefix_end = PrefixEnd(options.prefix);
  if (!prefix_end.empty() && (range.to.empty() || prefix_end < range.to)) range.to = prefix_end;
  return range;
}

Status Database::Scan(KeyspaceId keyspace, const ScanOptions& options,
                      const ScanVisitor& visitor) const {
  StoredDocumentCursor cursor(*this, keyspace, RangeOf(options), options.snapshot,
                              options.with_tombstones ? StoredDocumentCursor::Rows::kAll
                                                      : StoredDocumentCursor::Rows::kLive);
  for (uint64_t given = 0; given < options.limit && cursor.Next(); ++given) {
    if (!visitor(cursor.key(), cursor.document())) return OkStatus();
  }
  return cursor.status();
}

Result<uint64_t> Database::CountDocuments(KeyspaceId keyspace) const {
  // Rows as they are stored: the form in which they are read does not matter, and may be an error.
  StoredDocumentCursor rows(*this, keyspace, {}, nullptr, StoredDocumentCursor::Rows::kAll);
  const uint64_t now_ms = impl_->clock.WallMs();
  uint64_t count = 0;
  while (rows.Next()) {
    if (rows.document().LiveAt(now_ms)) ++count;
  }
  RETURN_IF_ERROR(rows.status());
  return count;
}

Status Database::ScanIndex(const Index& index, std::string_view from, std::string_view to,
                           const IndexVisitor& visitor, const DatabaseSnapshot* snapshot) const {
  StoredIndexCursor cursor(*this, index, {std::string(from), std::string(to)}, snapshot);
  while (cursor.Next()) {
    if (!visitor(cursor.parts(), cursor.key())) return OkStatus();
  }
  return cursor.status();
}

namespace {

Status NotThen(const Index& index) {
  return Error(Code::kNotFound, "index.not_found",
               "index '{}' did not exist at the time of reading", index.definition().name);
}

const Index* FindIndex(const Catalog& catalog, const Index& index) {
  const KeyspaceInfo* keyspace = catalog.Find(index.keyspace());
  if (keyspace == nullptr) return nullptr;
  for (const auto& each : keyspace->indexes) {
    if (each->id() == index.id()) return each.get();
  }
  return nullptr;
}

}  // namespace

Status Database::CheckIndex(const Index& index, const DatabaseSnapshot& snapshot) const {
  RETURN_IF_ERROR(index.CheckReady());
  if (index.definition().primary) {
    return Error(Code::kUnsupported, "index.unsupported",
                 "primary index '{}' has no rows: its keyspace is scanned instead",
                 index.definition().name);
  }
  if (snapshot.catalog() != nullptr) {
    const Index* then = FindIndex(*snapshot.catalog(), index);
    return then == nullptr ? NotThen(index) : then->CheckReady();
  }
  std::string stored;
  const std::string key = IndexRowKey(index.id());
  ASSIGN_OR_RETURN(const bool found,
                   impl_->store->Get(storage::Family::kMeta, RowKey(kDefinitionsShard, key),
                                     &stored, &snapshot.store()));
  if (!found) return NotThen(index);
  ASSIGN_OR_RETURN(const json::Value value, DecodeMetaJson(key, stored, kIndexRowVersion));
  ASSIGN_OR_RETURN(const IndexEntry then, IndexFromJson(value));
  return index.WithState(then.state).CheckReady();
}

std::unique_ptr<DatabaseSnapshot> Database::NewSnapshot() const {
  return impl_->cut.Outside([this] {
    auto snapshot = std::make_unique<DatabaseSnapshot>();
    snapshot->time_ms_ = impl_->clock.WallMs();
    const uint64_t changes = impl_->catalog_changes_.load();
    snapshot->catalog_ = impl_->CurrentCatalog();
    snapshot->store_ = impl_->store->NewSnapshot();
    const bool changed = changes % 2 == 1 || changes != impl_->catalog_changes_.load();
    if (changed) snapshot->catalog_ = nullptr;
    return snapshot;
  });
}

Result<Sequence> Database::SequenceAt(const DatabaseSnapshot& snapshot, ShardId shard) const {
  ASSIGN_OR_RETURN(const ShardState state,
                   ShardState::Load(*impl_->store, shard, &snapshot.store()));
  return state.sequence;
}

// --- writing ------------------------------------------------------------------------------------

uint16_t Database::shard_count() const { return impl_->format.shards; }
const CommitLimits& Database::commit_limits() const { return impl_->options.commit_limits; }

ShardId Database::ShardOf(KeyspaceId keyspace, std::string_view key) const {
  return db::ShardOf(keyspace, key, impl_->format.shards);
}

ShardId Database::ShardOfKey(std::string_view key) const {
  return db::ShardOfKey(key, impl_->format.shards);
}

Cas Database::NewCas() { return impl_->stamps->Next(); }

namespace {

// Rows and cursors must be in the commit's own shard: their module says which one that is.
Status CheckPlaces(const Database& database, const Commit& commit) {
  const auto other_shard = [&](std::string_view what) {
    return Error(Code::kInvalidArgument, "commit.cross_shard",
                 "{} is not in shard {}, which the commit names", what, commit.shard);
  };
  for (const RangeCheck& range : commit.ranges) {
    const bool has_range = range.shard < database.shard_count() &&
                           (!IsTableId(range.keyspace) || range.shard == kTablesShard);
    if (!has_range) return other_shard("a range");
  }
  for (const RowWrite& row : commit.rows) {
    if (row.shard && *row.shard != commit.shard) return other_shard("a row");
  }
  for (const CursorMove& move : commit.cursor_moves) {
    if (move.cursor.shard != commit.shard) return other_shard("a cursor");
  }
  for (const CursorCreate& create : commit.cursor_creates) {
    if (create.cursor.shard != commit.shard) return other_shard("a cursor");
  }
  return OkStatus();
}

Status CheckCommit(const Database& database, const Commit& commit) {
  if (commit.shard >= database.shard_count()) {
    return Error(Code::kInvalidArgument, "commit.malformed", "there is no shard {}", commit.shard);
  }
  size_t bytes = 0;
  for (const Write& write : commit.writes) {
    RETURN_IF_ERROR(CheckKey(write.key));
    bytes += write.document.body.size() + write.document.xattrs.size();
  }
  RETURN_IF_ERROR(database.commit_limits().Check(commit.writes.size(), bytes));
  return CheckPlaces(database, commit);
}

}  // namespace

// OK when the commit may go to its committer.
CommitResult Database::Admit(Commit* commit) const {
  CommitResult result;
  result.status = CheckCommit(*this, *commit);
  if (result.status.ok() && impl_->traffic.SampleNow()) impl_->samples.Note(*commit, *impl_->store);
  if (result.status.ok() && impl_->typed.load(std::memory_order_relaxed)) {
    result.status = TypedWrites(*this, *impl_).Prepare(commit, &result.failed_write);
  }
  return result;
}

void Database::Submit(Commit commit, CommitCallback callback) {
  if (CommitResult admitted = Admit(&commit); !admitted.status.ok()) {
    callback(std::move(admitted));
    return;
  }
  if (impl_->IsShared(&commit)) {
    impl_->shared->Submit(std::move(commit), std::move(callback));
    return;
  }
  Committer& committer = *impl_->committers[commit.shard];
  committer.Submit(std::move(commit), std::move(callback));
}

CommitResult Database::Apply(Commit commit) {
  CommitResult result;
  std::binary_semaphore done(0);
  Submit(std::move(commit), [&](CommitResult outcome) {
    result = std::move(outcome);
    done.release();
  });
  const WaitScope waits;
  done.acquire();
  return result;
}

// Whether several shards share the commit. If not, it belongs to the one that it is in.
bool DatabaseImpl::IsShared(Commit* commit) const {
  if (format.shards == 1) return false;
  const std::set<ShardId> shards = ShardsOf(*commit, format.shards);
  if (shards.size() > 1) return true;
  if (*shards.begin() != commit->shard) commit->reads_as_of.reset();
  commit->shard = *shards.begin();
  return false;
}

Status Database::ApplyGroup(ShardId shard, Sequence expected, Sequence next,
                            std::string_view bytes) {
  return impl_->ApplyGroup(shard, expected, next, bytes);
}

Status Database::TakeOver() { return impl_->GiveAll(); }

const Clock& Database::clock() const { return impl_->clock; }
Ownership& Database::ownership() const { return impl_->ownership; }

const storage::Store& StoreOf(const Database& database) { return *database.impl_->store; }

}  // namespace sluice::db
