// A job's row in the meta family: "type_migration/<type>", u8 1, JSON (docs/formats/types.md).
#include "doctype_db/mass_migration.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <semaphore>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "db/conflict_retry.h"
#include "doctype/document_diff.h"
#include "doctype/stamps.h"
#include "doctype_db/keyspace_policy.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype_db {
namespace {

using json::Value;
using State = MigrationJob::State;

constexpr std::string_view kRowPrefix = "type_migration/";
constexpr char kRowVersion = 1;
constexpr std::string_view kRowChanged = "row.changed";
constexpr size_t kChunkDocuments = 512;
constexpr size_t kChunkBytes = 4 << 20;
constexpr size_t kTogether = 64;  // of them are written while scripts run on the next
constexpr size_t kMaxPaths = 100;
constexpr int kMostStores = 100;  // of one change, when others change the row, too
constexpr std::string_view kStates[] = {"running", "done", "cancelled", "failed"};

Value CountsJson(const std::map<std::string, uint64_t>& counts) {
  Value out = Value::EmptyObject();
  for (const auto& [name, count] : counts) out.Set(name, Value::Unsigned(count));
  return out;
}

uint64_t NumberOf(const Value& value) {
  return value.is_int() ? static_cast<uint64_t>(value.AsInt()) : 0;
}
std::string TextOf(const Value& value) {
  return value.is_string() ? std::string(value.AsString()) : std::string();
}

std::map<std::string, uint64_t> CountsOf(const Value& value) {
  std::map<std::string, uint64_t> counts;
  for (const auto& [name, count] : value.fields()) counts[TextOf(name)] = NumberOf(count);
  return counts;
}

// The version that a document names; documents without one are counted separately.
std::string VersionName(const doctype::Type& type, std::string_view body) {
  std::string version = doctype::SchemaVersion(type, body);
  return version.empty() ? "none" : version;
}

Value ShardsJson(const MigrationJob::Shards& shards) {
  Value list = Value::EmptyArray();
  for (const auto& [shard, from] : shards) {
    list.Append(Value::Object({{"shard", Value::Unsigned(shard)}, {"from", from}}));
  }
  return list;
}

MigrationJob::Shards ShardsOf(const Value& list) {
  MigrationJob::Shards shards;
  for (const Value& each : list.items()) {
    shards[static_cast<db::ShardId>(NumberOf(each["shard"]))] = TextOf(each["from"]);
  }
  return shards;
}

// A slow job takes small chunks, so that its progress is visible.
size_t MostOf(const MigrationOptions& options) {
  constexpr uint64_t kChunksPerSecond = 10;
  if (options.rate == 0) return kChunkDocuments;
  return std::clamp<size_t>(options.rate / kChunksPerSecond, 1, kChunkDocuments);
}

}  // namespace

json::Value MigrationJob::ToJson() const {
  Value list = Value::EmptyArray();
  for (const Failure& failure : failures) {
    list.Append(
        Value::Object({{"key", failure.key}, {"id", failure.id}, {"message", failure.message}}));
  }
  Value job = Value::Object({{"type", type},
                             {"state", kStates[static_cast<size_t>(state)]},
                             {"dry_run", options.dry_run},
                             {"announce", options.announce},
                             {"rate", Value::Unsigned(options.rate)},
                             {"to", to},
                             {"restarts", Value::Unsigned(restarts)},
                             {"next", next},
                             {"about", Value::Unsigned(about)},
                             {"scanned", Value::Unsigned(scanned)},
                             {"documents", Value::Unsigned(documents)},
                             {"migrated", Value::Unsigned(migrated)},
                             {"failed", Value::Unsigned(failed)},
                             {"before", CountsJson(before)},
                             {"after", CountsJson(after)},
                             {"lost", CountsJson(lost)},
                             {"failures", std::move(list)},
                             {"started_ms", Value::Unsigned(started_ms)}});
  if (!pass.empty()) job.Set("pass", ShardsJson(pass));
  if (!left.empty()) job.Set("left", ShardsJson(left));
  if (ended_ms != 0) job.Set("ended_ms", Value::Unsigned(ended_ms));
  if (!problem.empty()) job.Set("problem", problem);
  return job;
}

Result<MigrationJob> MigrationJob::FromJson(const json::Value& value) {
  MigrationJob job;
  job.type = TextOf(value["type"]);
  const auto state = std::ranges::find(kStates, TextOf(value["state"]));
  if (job.type.empty() || state == std::end(kStates)) {
    return Fail(Code::kCorruption, "migration.corrupt", "a stored mass migration is malformed");
  }
  job.state = static_cast<State>(state - std::begin(kStates));
  job.options.dry_run = value["dry_run"] == Value(true);
  job.options.announce = value["announce"] == Value(true);
  job.options.rate = NumberOf(value["rate"]);
  job.to = TextOf(value["to"]);
  job.restarts = NumberOf(value["restarts"]);
  job.next = TextOf(value["next"]);
  job.pass = ShardsOf(value["pass"]);
  job.left = ShardsOf(value["left"]);
  job.about = NumberOf(value["about"]);
  job.scanned = NumberOf(value["scanned"]);
  job.documents = NumberOf(value["documents"]);
  job.migrated = NumberOf(value["migrated"]);
  job.failed = NumberOf(value["failed"]);
  job.before = CountsOf(value["before"]);
  job.after = CountsOf(value["after"]);
  job.lost = CountsOf(value["lost"]);
  for (const Value& failure : value["failures"].items()) {
    job.failures.push_back(
        {TextOf(failure["key"]), TextOf(failure["id"]), TextOf(failure["message"])});
  }
  job.problem = TextOf(value["problem"]);
  job.started_ms = NumberOf(value["started_ms"]);
  job.ended_ms = NumberOf(value["ended_ms"]);
  return job;
}

void MigrationJob::AddFailure(const std::string& key, const Status& error) {
  ++failed;
  if (failures.size() >= kMaxFailures) return;
  std::string message(error.message());
  if (const Place& place = error.place(); place.line != 0) {
    message += fmt::format(" ({}:{}:{})", place.file, place.line, place.column);
  }
  failures.push_back({key, std::string(error.id()), std::move(message)});
}

void MigrationJob::StartOver(const std::string& version) {
  MigrationJob again;
  again.type = type;
  again.options = options;
  again.to = version;
  again.restarts = restarts + (to.empty() ? 0 : 1);
  again.about = about;
  again.lost = lost;
  again.started_ms = started_ms;
  *this = std::move(again);
}

void MigrationJob::LeaveOut(uint16_t shards, const std::set<db::ShardId>& owned) {
  for (db::ShardId shard = 0; shard < shards; ++shard) {
    const auto first = pass.find(shard);
    if (owned.contains(shard) || (!pass.empty() && first == pass.end())) continue;
    left.try_emplace(shard, first == pass.end() ? next : std::max(next, first->second));
  }
}

void MigrationJob::BeginNextPass() {
  pass = std::exchange(left, {});
  const auto least = std::ranges::min_element(
      pass, {}, [](const auto& each) -> const std::string& { return each.second; });
  next = least->second;
}

bool MigrationJob::Passes(db::ShardId shard, std::string_view key) const {
  if (left.contains(shard)) return false;
  if (pass.empty()) return true;
  const auto first = pass.find(shard);
  return first != pass.end() && key >= first->second;
}

// The documents of the type that are next, by key.
struct MassMigration::Chunk {
  std::shared_ptr<const db::DocumentPolicy> holder;
  const KeyspacePolicy* policy = nullptr;
  const doctype::Type* type = nullptr;
  db::KeyspaceId keyspace = 0;
  std::string from;
  std::string next;        // empty at the end
  uint64_t scanned = 0;    // documents of any type
  uint64_t documents = 0;  // of this one
  std::map<std::string, uint64_t> versions;
  std::vector<std::string> old;  // keys of those that are not at the current version
};

MassMigration::MassMigration(db::Database& database)
    : database_(database),
      wake_(database.clock()),
      watch_(database, std::string(kRowPrefix),
             [this](const auto& type, const auto& row) { return Refresh(type, row); }) {}

MassMigration::~MassMigration() {
  database_.ownership().Remove(this);
  wake_.Close();
  if (thread_.joinable()) thread_.join();
}

Status MassMigration::Start() {
  RETURN_IF_ERROR(watch_.Load());
  database_.ownership().Add(this);
  thread_ = Thread({"migration"}, [this] { Run(); });
  return OkStatus();
}

Status MassMigration::Refresh(const std::string& type, const std::optional<std::string>& row) {
  if (!row) {
    jobs_.Lock()->by_type.erase(type);
    return OkStatus();
  }
  if (row->empty() || row->front() != kRowVersion) {
    return Error(Code::kCorruption, "migration.corrupt",
                 "the stored row '{}{}' has an unknown version", kRowPrefix, type);
  }
  ASSIGN_OR_RETURN(const Value value, json::Parse(std::string_view(*row).substr(1)));
  ASSIGN_OR_RETURN(MigrationJob job, MigrationJob::FromJson(value));
  jobs_.Lock()->by_type.insert_or_assign(type, Known{std::move(job), *row});
  wake_.Wake();
  progress_.Wake();
  return OkStatus();
}

Result<MigrationJob> MassMigration::Begin(const std::string& type,
                                          const MigrationOptions& options) {
  const auto catalog = database_.catalog();
  const db::KeyspaceInfo* const keyspace = catalog->FindType(type);
  if (keyspace == nullptr) {
    return Fail(Code::kNotFound, "type.not_found", "there is no document type '{}'", type);
  }
  const auto* const policy = dynamic_cast<const KeyspacePolicy*>(keyspace->policy.get());
  const doctype::LoadedType* const loaded = policy == nullptr ? nullptr : policy->FindType(type);
  if (loaded == nullptr || loaded->migrations() == nullptr) {
    return Fail(Code::kInvalidArgument, "migration.none", "type '{}' has no migrations", type);
  }
  MigrationJob job;
  job.type = type;
  job.options = options;
  job.started_ms = database_.clock().WallMs();
  job.to = loaded->type().schema;
  job.about = database_.estimates().Rows(keyspace->id);
  for (int stores = 0; stores < kMostStores;) {
    const uint64_t seen = progress_.news();
    std::string row;
    bool waits = false;
    {
      const auto jobs = jobs_.Lock();
      const auto known = jobs->by_type.find(type);
      if (known != jobs->by_type.end()) {
        if (known->second.job.state == State::kRunning) break;
        row = known->second.row;
      }
      waits = jobs->current == type;
      if (!waits && options.dry_run) jobs->by_type[type].job = job;
    }
    if (waits) {
      progress_.Wait(seen);
      continue;
    }
    const Status stored = options.dry_run ? OkStatus() : Store(job, row);
    if (stored.ok()) {
      wake_.Wake();
      return job;
    }
    if (stored.id() != kRowChanged) return Unexpected(stored);
    ++stores;
  }
  return Fail(Code::kConflict, "migration.running",
              "the documents of type '{}' are being migrated already", type);
}

Result<MigrationJob> MassMigration::Find(const std::string& type) const {
  if (auto known = KnownOf(type)) return std::move(known->job);
  return Fail(Code::kNotFound, "migration.no_job",
              "the documents of type '{}' were never migrated as a whole", type);
}

std::optional<MassMigration::Known> MassMigration::KnownOf(const std::string& type) const {
  const auto jobs = jobs_.Lock();
  const auto found = jobs->by_type.find(type);
  if (found == jobs->by_type.end()) return std::nullopt;
  return found->second;
}

Result<MigrationJob> MassMigration::WaitUntil(const std::string& type,
                                              const Condition& holds) const {
  while (true) {
    const uint64_t seen = progress_.news();
    ASSIGN_OR_RETURN(MigrationJob job, Find(type));
    if (holds(job)) return job;
    progress_.Wait(seen);
  }
}

Status MassMigration::Cancel(const std::string& type) {
  for (int stores = 0; stores < kMostStores; ++stores) {
    std::optional<Known> known = KnownOf(type);
    if (!known || known->job.state != State::kRunning) {
      return Error(Code::kNotFound, "migration.no_job",
                   "the documents of type '{}' are not being migrated", type);
    }
    known->job.state = State::kCancelled;
    known->job.ended_ms = database_.clock().WallMs();
    const Status stored = known->job.options.dry_run ? OkStatus() : Store(known->job, known->row);
    if (stored.id() == kRowChanged) continue;  // by the thread, which has done a chunk
    if (known->job.options.dry_run || !stored.ok()) {
      const auto jobs = jobs_.Lock();
      MigrationJob& job = jobs->by_type[type].job;
      job.state = State::kCancelled;
      job.ended_ms = known->job.ended_ms;
    }
    wake_.Wake();
    progress_.Wake();
    return OkStatus();
  }
  return Error(Code::kConflict, "migration.running",
               "the documents of type '{}' are being migrated", type);
}

Status MassMigration::Store(const MigrationJob& job, const std::string& row) {
  db::Commit commit;
  std::string value(1, kRowVersion);
  json::Print(job.ToJson(), &value);
  std::optional<std::string> expected;
  if (!row.empty()) expected = row;
  commit.rows.push_back({db::RowFamily::kMeta, db::kDefinitionsShard,
                         std::string(kRowPrefix) + job.type, std::move(value),
                         std::move(expected)});
  Status stored = database_.Apply(std::move(commit)).status;
  if (!stored.ok() && stored.id() != kRowChanged) {
    // A full disk, for example: the position is stored with a later chunk.
    log::Warn("the position of a mass migration can't be stored",
              {{"type", job.type}, {"error", stored.ToString()}});
  }
  return stored;
}

void MassMigration::Gained(db::ShardId shard) {
  jobs_.Lock()->owned.insert(shard);
  wake_.Wake();
}

void MassMigration::Lost(db::ShardId shard) {
  uint64_t chunk = 0;
  {
    const auto jobs = jobs_.Lock();
    jobs->owned.erase(shard);
    chunk = jobs->chunks;
  }
  while (true) {
    const uint64_t seen = progress_.news();
    {
      const auto jobs = jobs_.Lock();
      if (jobs->current.empty() || jobs->chunks != chunk) return;
    }
    progress_.Wait(seen);
  }
}

// --- the thread ---------------------------------------------------------------------------------

void MassMigration::Run() {
  while (!wake_.closed()) {
    const uint64_t seen = wake_.news();
    std::optional<Turn> turn = NextJob();
    if (!turn) {
      wake_.Wait(seen);
      continue;
    }
    MigrationJob& job = turn->known.job;
    const uint64_t started_ns = database_.clock().MonotonicNs();
    uint64_t written = 0;
    if (!job.options.dry_run) job.LeaveOut(database_.shard_count(), turn->owned);
    const bool more = RunChunk(&job, &written);
    if (!more && job.state == State::kRunning && IsCurrent(job)) {
      if (job.left.empty()) {
        job.state = State::kDone;
      } else {
        job.BeginNextPass();
      }
    }
    if (job.state != State::kRunning) job.ended_ms = database_.clock().WallMs();
    Publish(job, std::move(turn->known.row));
    if (job.state == State::kRunning) Wait(job, started_ns, written);
  }
}

std::optional<MassMigration::Turn> MassMigration::NextJob() {
  const auto jobs = jobs_.Lock();
  const auto is_here = [&](const auto& each) { return jobs->owned.contains(each.first); };
  for (const auto& [type, known] : jobs->by_type) {
    const MigrationJob& job = known.job;
    if (job.state != State::kRunning) continue;
    const bool may_run =
        job.options.dry_run || (jobs->owned.contains(db::kDefinitionsShard) &&
                                (job.pass.empty() || std::ranges::any_of(job.pass, is_here)));
    if (!may_run) continue;
    jobs->current = type;
    ++jobs->chunks;
    return Turn{known, jobs->owned};
  }
  return std::nullopt;
}

bool MassMigration::IsCancelled(const std::string& type) const {
  const auto known = KnownOf(type);
  return known && known->job.state == State::kCancelled;
}

// A job that was cancelled during its chunk stays cancelled, and counts the chunk.
void MassMigration::Publish(MigrationJob job, std::string row) {
  for (int stores = 0; stores < kMostStores; ++stores) {
    const std::optional<Known> known = KnownOf(job.type);
    if (!known) break;
    if (known->job.state == State::kCancelled) {
      job.state = State::kCancelled;
      job.ended_ms = known->job.ended_ms;
      row = known->row;
    }
    const Status stored = job.options.dry_run ? OkStatus() : Store(job, row);
    if (stored.id() == kRowChanged && IsCancelled(job.type)) continue;
    if (job.options.dry_run || (!stored.ok() && stored.id() != kRowChanged)) KeepInMemory(job);
    break;
  }
  jobs_.Lock()->current.clear();
  progress_.Wake();
}

// For what is not stored.
void MassMigration::KeepInMemory(MigrationJob job) {
  const auto jobs = jobs_.Lock();
  MigrationJob& known = jobs->by_type[job.type].job;
  if (known.state == State::kCancelled) {
    job.state = State::kCancelled;
    job.ended_ms = known.ended_ms;
  }
  known = std::move(job);
}

// If not, the version has changed since the last chunk was read, and the next one starts over.
bool MassMigration::IsCurrent(const MigrationJob& job) const {
  const auto catalog = database_.catalog();
  const db::KeyspaceInfo* const keyspace = catalog->FindType(job.type);
  if (keyspace == nullptr) return true;
  const auto* const policy = dynamic_cast<const KeyspacePolicy*>(keyspace->policy.get());
  const doctype::LoadedType* const loaded =
      policy == nullptr ? nullptr : policy->FindType(job.type);
  return loaded == nullptr || loaded->type().schema == job.to;
}

bool MassMigration::RunChunk(MigrationJob* job, uint64_t* written) {
  Chunk chunk;
  chunk.from = job->next;
  const Status read = ReadChunk(*job, &chunk);
  if (!read.ok()) {
    job->state = State::kFailed;
    job->problem = read.ToString();
    return false;
  }
  if (chunk.type->schema != job->to) {
    job->StartOver(chunk.type->schema);
    if (!chunk.from.empty()) return true;
  }
  job->documents += chunk.documents;
  job->scanned += chunk.scanned;
  for (const auto& [version, count] : chunk.versions) {
    job->before[version] += count;
    job->after[version] += count;
  }
  Migrate(chunk, job);
  job->next = chunk.next;
  *written = chunk.old.size();
  return !chunk.next.empty();
}

Status MassMigration::ReadChunk(const MigrationJob& job, Chunk* chunk) const {
  const std::string& type = job.type;
  const size_t most = MostOf(job.options);
  const auto catalog = database_.catalog();
  const db::KeyspaceInfo* const keyspace = catalog->FindType(type);
  if (keyspace == nullptr) {
    return Error(Code::kNotFound, "type.not_found", "there is no document type '{}' any more",
                 type);
  }
  chunk->holder = keyspace->policy;
  chunk->policy = dynamic_cast<const KeyspacePolicy*>(keyspace->policy.get());
  const doctype::LoadedType* const loaded =
      chunk->policy == nullptr ? nullptr : chunk->policy->FindType(type);
  if (loaded == nullptr) {
    return Error(Code::kUnavailable, "type.unusable", "the type '{}' can't be used", type);
  }
  chunk->type = &loaded->type();
  chunk->keyspace = keyspace->id;
  const uint64_t now_ms = database_.clock().WallMs();
  size_t bytes = 0;
  size_t rows = 0;
  db::ScanOptions options;
  options.from = chunk->from;
  options.with_tombstones = true;  // rows as they are stored
  return database_.Scan(
      keyspace->id, options, [&](std::string_view key, const db::DocumentView& document) {
        if (rows >= most || bytes >= kChunkBytes) {
          chunk->next = key;
          return false;
        }
        ++rows;
        if (!job.Passes(database_.ShardOf(keyspace->id, key), key)) return true;
        bytes += document.body.size();
        if (document.LiveAt(now_ms)) ++chunk->scanned;
        if (!document.LiveAt(now_ms) || document.datatype != db::Datatype::kJson ||
            chunk->policy->TypeOf(key, document) != type) {
          return true;
        }
        ++chunk->documents;
        const std::string version = VersionName(*chunk->type, document.body);
        ++chunk->versions[version];
        if (version != chunk->type->schema) chunk->old.emplace_back(key);
        return true;
      });
}

// One document on its way into its current version.
struct MassMigration::Attempt {
  std::string key;
  std::string from;  // its version
  std::vector<std::string> lost;
  db::Commit commit;
  bool failed = false;  // it can't be migrated
  Status status;
};

void MassMigration::Migrate(const Chunk& chunk, MigrationJob* job) {
  std::vector<std::string> keys = chunk.old;
  for (int attempt = 0; attempt < db::ConflictRetry::kMostAttempts && !keys.empty(); ++attempt) {
    keys = TryOnce(chunk, keys, job);
  }
  for (const std::string& key : keys) {
    job->AddFailure(key, Error(Code::kConflict, "document.cas_mismatch",
                               "other commits changed it on each of {} attempts",
                               db::ConflictRetry::kMostAttempts));
  }
}

// Returns the keys of documents that changed in the meantime; they must be tried again.
std::vector<std::string> MassMigration::TryOnce(const Chunk& chunk,
                                                const std::vector<std::string>& keys,
                                                MigrationJob* job) {
  const std::span<const std::string> all = keys;
  const size_t first = keys.size() < 2 * kTogether ? keys.size() : keys.size() / 2;
  std::deque<Attempt> attempts;
  std::deque<Attempt> others;
  {
    Thread helper;
    if (first < keys.size()) {
      helper = Thread({"migration", "share"},
                      [&] { TryShare(chunk, all.subspan(first), job->options, &others); });
    }
    TryShare(chunk, all.first(first), job->options, &attempts);
  }
  std::ranges::move(others, std::back_inserter(attempts));
  std::vector<std::string> again;
  for (Attempt& attempt : attempts) {
    const Code code = attempt.status.code();
    if (attempt.failed) {
      job->AddFailure(attempt.key, attempt.status);
    } else if (code == Code::kConflict || code == Code::kNotFound) {
      again.push_back(std::move(attempt.key));
    } else if (!attempt.status.ok()) {
      job->AddFailure(attempt.key, attempt.status);
    } else {
      ++job->migrated;
      --job->after[attempt.from];
      ++job->after[chunk.type->schema];
      for (const std::string& path : attempt.lost) {
        if (job->lost.size() < kMaxPaths || job->lost.contains(path)) ++job->lost[path];
      }
    }
  }
  return again;
}

// The part of a chunk that one thread does: it migrates documents while earlier ones are written.
void MassMigration::TryShare(const Chunk& chunk, std::span<const std::string> keys,
                             const MigrationOptions& options, std::deque<Attempt>* attempts) {
  std::counting_semaphore<> committed(0);
  size_t submitted = 0;
  size_t waiting = 0;
  const auto submit = [&] {
    for (; submitted < attempts->size(); ++submitted) {
      Attempt& attempt = (*attempts)[submitted];
      if (attempt.failed || options.dry_run) continue;
      ++waiting;
      database_.Submit(std::move(attempt.commit), [&](db::CommitResult result) {
        attempt.status = std::move(result.status);
        committed.release();
      });
    }
  };
  for (const std::string& key : keys) {
    Attempt& attempt = attempts->emplace_back();
    if (!Prepare(chunk, key, options, &attempt)) attempts->pop_back();
    if (attempts->size() >= submitted + kTogether) submit();
  }
  submit();
  for (; waiting > 0; --waiting) committed.acquire();
}

// False when there is nothing (more) to do for the document.
bool MassMigration::Prepare(const Chunk& chunk, const std::string& key,
                            const MigrationOptions& options, Attempt* attempt) {
  db::PinnedDocument stored;
  const auto found = database_.read_forms().GetStored(chunk.keyspace, key, &stored);
  if (!found || !*found) return false;
  attempt->key = key;
  attempt->from = VersionName(*chunk.type, stored->body);
  if (attempt->from == chunk.type->schema) return false;  // somebody else wrote it
  auto body = chunk.policy->AsRead(key, stored.view(), chunk.type->schema);
  if (!body) {
    attempt->failed = true;
    attempt->status = body.error();
    return true;
  }
  if (!*body) return false;
  const auto before = json::Parse(stored->body);
  const auto after = json::Parse(**body);
  if (before && after) {
    attempt->lost = doctype::LostFields(*before, *after);
    std::erase(attempt->lost, chunk.type->properties.PathOf(doctype::Stamp::kSchema));
  }
  db::Document document = stored->Copy();
  document.body = std::move(**body);
  document.cas = 0;
  db::Write write =
      db::PutWrite(chunk.keyspace, key, std::move(document), db::Precondition::CasIs(stored->cas));
  write.intent = db::Write::Intent::kMigrate;
  write.announced = options.announce;
  attempt->commit.shard = database_.ShardOf(chunk.keyspace, key);
  attempt->commit.writes.push_back(std::move(write));
  return true;
}

// Waits until the job may take its next chunk, by its rate.
void MassMigration::Wait(const MigrationJob& job, uint64_t chunk_started_ns, uint64_t written) {
  if (job.options.rate == 0 || written == 0) return;
  const Clock::Time until(
      std::chrono::nanoseconds(chunk_started_ns + written * 1'000'000'000 / job.options.rate));
  while (true) {
    const uint64_t seen = wake_.news();
    if (IsCancelled(job.type) || wake_.Wait(seen, until) != Signal::Waited::kNews) return;
  }
}

}  // namespace sluice::doctype_db
