// An owner and a standby in two processes, of which the owner is killed again and again
// (run_standby_crash.py kills it). The owner's journal is a file; what it appends there it also
// writes into a pipe, from which the standby reads groups and applies them.
//
// Usage: standby_worker feed DIR FROM   works until it is killed; FROM: the standby's last
// sequences
//        standby_worker finish DIR FROM sends what the standby lacks, and ends
//        standby_worker follow DIR      prints its last sequences, then applies what it reads
//        standby_worker compare A B     whether two databases have the same rows
// Sequences are one number for each shard, with commas. Prints what it found wrong and exits 1.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "db/database_impl.h"

namespace sluice::db {
namespace {

constexpr uint16_t kShards = 2;
constexpr int kWriters = 4;
constexpr uint64_t kKeys = 200;
constexpr size_t kFrameHeader = 4 + 2 + 8 + 8;

[[noreturn]] void Wrong(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void Must(const Status& status) {
  if (!status.ok()) Wrong(status.ToString());
}

// A group on its way: u32 length of the bytes, u16 shard, u64 sequences before and after, bytes.
struct Frame {
  ShardId shard = 0;
  Sequence expected = 0;
  Sequence next = 0;
  std::string bytes;

  std::string Encode() const {
    std::string out;
    AppendU32(&out, static_cast<uint32_t>(bytes.size()));
    AppendU16(&out, shard);
    AppendU64(&out, expected);
    AppendU64(&out, next);
    return out + bytes;
  }
};

// None at the end, and for a frame that is cut short.
std::optional<Frame> ReadFrame(std::FILE* file) {
  std::string header(kFrameHeader, '\0');
  if (std::fread(header.data(), 1, header.size(), file) != header.size()) return std::nullopt;
  ByteReader reader(header);
  Frame frame;
  frame.bytes.resize(reader.U32());
  frame.shard = reader.U16();
  frame.expected = reader.U64();
  frame.next = reader.U64();
  if (std::fread(frame.bytes.data(), 1, frame.bytes.size(), file) != frame.bytes.size()) {
    return std::nullopt;
  }
  return frame;
}

// Writes everything, unless the reader has gone.
void WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

// Appends frames to a file, and then to the pipe. A process that is killed loses nothing that was
// written; a frame that it was writing is cut off by the next one.
class FileJournal final : public Journal {
 public:
  FileJournal(const std::string& path, storage::Store& store) : store_(store) {
    file_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    CHECK(file_ >= 0);
  }
  ~FileJournal() override { close(file_); }

  void Append(ShardId shard, Sequence expected, Sequence next, storage::Batch* group,
              Done done) override {
    const std::string frame = Frame{shard, expected, next, group->Serialize()}.Encode();
    {
      const MutexLock lock(mutex_);
      WriteAll(file_, frame);
      WriteAll(STDOUT_FILENO, frame);
    }
    done({});
  }
  Result<Position> Last(ShardId shard) override {
    ASSIGN_OR_RETURN(const ShardState state, ShardState::Load(store_, shard));
    return Position{state.sequence, false};
  }
  Status Recover() override { return OkStatus(); }
  bool WritesStore() const override { return false; }

 private:
  storage::Store& store_;
  Mutex mutex_;
  int file_ = -1;
};

std::unique_ptr<Database> OpenStandby(const std::string& directory, JournalFactory journal = {}) {
  static const SystemClock clock;
  DatabaseOptions options;
  options.role = DatabaseRole::kStandby;
  options.shards = kShards;
  options.trim_interval_ms = 50;
  options.expiry_interval_ms = 50;
  options.tombstone_retention_ms = 100;
  options.log_retention_ms = 50;
  options.journal = std::move(journal);
  auto opened = Database::Open(directory, options, clock);
  if (!opened) Wrong(opened.error().ToString());
  return std::move(*opened);
}

std::vector<Sequence> ParseSequences(const std::string& text) {
  std::vector<Sequence> sequences;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) sequences.push_back(std::stoull(part));
  CHECK(sequences.size() == kShards);
  return sequences;
}

// An owner is a standby that has applied its own journal.
std::unique_ptr<Database> OpenOwner(const std::string& directory,
                                    const std::vector<Sequence>& standby) {
  const std::string path = directory + ".journal";
  auto database = OpenStandby(directory, [path](storage::Store& store) {
    return std::make_unique<FileJournal>(path, store);
  });
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  CHECK(file != nullptr);
  uint64_t whole = 0;
  while (const auto frame = ReadFrame(file)) {
    whole += kFrameHeader + frame->bytes.size();
    if (frame->next > database->followers().LastSequence(frame->shard)) {
      Must(database->ApplyGroup(frame->shard, frame->expected, frame->next, frame->bytes));
    }
    if (frame->next > standby[frame->shard]) WriteAll(STDOUT_FILENO, frame->Encode());
  }
  std::fclose(file);
  std::filesystem::resize_file(path, whole);
  Must(database->TakeOver());
  return database;
}

KeyspaceId KeyspaceOf(Database& database, const std::string& bucket) {
  const Status made = database.admin().CreateBucket(bucket);
  if (!made.ok() && made.code() != Code::kAlreadyExists) Wrong(made.ToString());
  return *database.Resolve({.bucket = bucket});
}

[[noreturn]] void WriteForever(Database& database, KeyspaceId keyspace, uint64_t seed) {
  Random random(seed);
  while (true) {
    const std::string key = "key" + std::to_string(random.Below(kKeys));
    Write write = CounterWrite(keyspace, key, {.delta = 1, .initial = 1});
    if (random.OneIn(5)) write = DeleteWrite(keyspace, key);
    if (random.OneIn(5)) {
      write = PutWrite(keyspace, key, {.body = "7", .expiry_ms = database.clock().WallMs() + 50});
    }
    Commit commit;
    commit.shard = database.ShardOf(keyspace, key);
    commit.writes.push_back(std::move(write));
    CHECK(database.Apply(std::move(commit)).status.ok());
  }
}

[[noreturn]] void ChangeCatalogForever(Database& database) {
  Random random{std::random_device()()};
  while (true) {
    const KeyspaceName name{.bucket = "b", .collection = "c" + std::to_string(random.Below(4))};
    if (random.OneIn(2)) {
      (void)database.admin().CreateCollection(name, 0);
    } else {
      (void)database.admin().DropCollection(name);
    }
    (void)database.admin().CreateIndex(name, {.name = "i", .parts = {{.path = "a"}}});
  }
}

void Feed(const std::string& directory, const std::string& from) {
  const auto database = OpenOwner(directory, ParseSequences(from));
  const KeyspaceId keyspace = KeyspaceOf(*database, "b");
  (void)database->followers().Create({.name = "f", .keyspaces = {keyspace}});
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&] { WriteForever(*database, keyspace, std::random_device()()); });
  }
  ChangeCatalogForever(*database);
}

void PrintSequences(const Database& database) {
  for (ShardId shard = 0; shard < kShards; ++shard) {
    std::printf("%s%llu", shard == 0 ? "" : ",",
                static_cast<unsigned long long>(database.followers().LastSequence(shard)));
  }
  std::printf("\n");
  std::fflush(stdout);
}

void Follow(const std::string& directory) {
  const auto database = OpenStandby(directory);
  PrintSequences(*database);
  uint64_t applied = 0;
  for (; const auto frame = ReadFrame(stdin); ++applied) {
    Must(database->ApplyGroup(frame->shard, frame->expected, frame->next, frame->bytes));
  }
  std::printf("%llu groups\n", static_cast<unsigned long long>(applied));
}

void Compare(const std::string& one, const std::string& other) {
  const auto a = OpenStandby(one);
  const auto b = OpenStandby(other);
  uint64_t rows = 0;
  for (size_t i = 0; i < storage::kFamilyCount; ++i) {
    const auto family = static_cast<storage::Family>(i);
    const auto x = StoreOf(*a).NewIterator(family, {});
    const auto y = StoreOf(*b).NewIterator(family, {});
    x->SeekToFirst();
    y->SeekToFirst();
    for (; x->Valid() && y->Valid(); x->Next(), y->Next(), ++rows) {
      if (x->key() == y->key() && x->value() == y->value()) continue;
      Wrong(std::string("different rows in ") + std::string(FamilyName(family)) + ": " +
            ToHex(x->key()) + " and " + ToHex(y->key()));
    }
    if (x->Valid() || y->Valid()) {
      Wrong(std::string("a row is missing in ") + std::string(FamilyName(family)));
    }
  }
  for (ShardId shard = 0; shard < kShards; ++shard) {
    if (a->followers().LastSequence(shard) == 0) Wrong("nothing was written");
  }
  std::printf("%llu rows, the same on both sides, at ", static_cast<unsigned long long>(rows));
  PrintSequences(*a);
}

int Main(const std::vector<std::string>& arguments) {
  if (std::signal(SIGPIPE, SIG_IGN) == SIG_ERR) return 1;
  const std::string mode = arguments.empty() ? "" : arguments[0];
  if (mode == "feed" && arguments.size() == 3) {
    Feed(arguments[1], arguments[2]);
  } else if (mode == "finish" && arguments.size() == 3) {
    OpenOwner(arguments[1], ParseSequences(arguments[2]));
  } else if (mode == "follow" && arguments.size() == 2) {
    Follow(arguments[1]);
  } else if (mode == "compare" && arguments.size() == 3) {
    Compare(arguments[1], arguments[2]);
  } else {
    Wrong("usage: standby_worker feed|finish DIR FROM, follow DIR, compare A B");
  }
  return 0;
}

}  // namespace
}  // namespace sluice::db

int main(int argc, char** argv) { return sluice::db::Main({argv + 1, argv + argc}); }
