// The database inside one process against raw RocksDB: durable writes, point reads and delivery of
// changes, with 10 thousand and with 1 million documents of 1 KB.
#include <filesystem>
#include <memory>
#include <random>
#include <semaphore>
#include <string>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "base/check.h"
#include "base/clock.h"
#include "bench/measure.h"
#include "db/database.h"
#include "db/feed.h"

namespace sluice::bench {
namespace {

constexpr size_t kLoadBatch = 1000;
constexpr double kSeconds = 0.7;

std::string Key(uint64_t n) {
  std::string key = "user::00000000";
  for (size_t at = key.size(); n > 0; n /= 10) key[--at] = static_cast<char>('0' + n % 10);
  return key;
}

// 1 KB of JSON that compresses about as well as real documents do.
std::string Body(uint64_t n) {
  std::mt19937_64 random(n);
  std::string body = "{\"type\":\"user\",\"id\":" + std::to_string(n) + ",\"text\":\"";
  static const char* const kWords[] = {"river ", "gate ", "lock ", "water ", "level ", "open "};
  while (body.size() < 600) body += kWords[random() % 6];
  while (body.size() < 1020) body.push_back(static_cast<char>('a' + random() % 26));
  return body + "\"}";
}

class Bodies {
 public:
  Bodies() {
    for (uint64_t n = 0; n < 1024; ++n) bodies_.push_back(Body(n));
  }
  const std::string& operator[](uint64_t n) const { return bodies_[n % bodies_.size()]; }

 private:
  std::vector<std::string> bodies_;
};

// The yardstick: RocksDB with the options that matter set as ours are.
class Raw {
 public:
  explicit Raw(const std::string& path) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kLZ4Compression;
    options.write_buffer_size = 64 << 20;
    options.max_write_buffer_number = 4;
    options.level_compaction_dynamic_level_bytes = true;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(256 << 20);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.block_size = 8 << 10;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* db = nullptr;
    CHECK(rocksdb::DB::Open(options, path, &db).ok());
    db_.reset(db);
  }
  size_t Write(uint64_t first, size_t count, bool sync, const Bodies& bodies) {
    rocksdb::WriteBatch batch;
    for (size_t i = 0; i < count; ++i) batch.Put(Key(first + i), bodies[first + i]);
    rocksdb::WriteOptions options;
    options.sync = sync;
    CHECK(db_->Write(options, &batch).ok());
    return count;
  }
  size_t WriteRandom(std::mt19937_64& random, uint64_t documents, size_t count,
                     const Bodies& bodies) {
    rocksdb::WriteBatch batch;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t n = random() % documents;
      batch.Put(Key(n), bodies[n]);
    }
    rocksdb::WriteOptions options;
    options.sync = true;
    CHECK(db_->Write(options, &batch).ok());
    return count;
  }
  rocksdb::DB& db() { return *db_; }

 private:
  std::unique_ptr<rocksdb::DB> db_;
};

class Ours {
 public:
  explicit Ours(const std::string& path) : path_(path) {
    db::DatabaseOptions options;
    options.durability = db::Durability::kNone;
    Open(options);
    CHECK(database_->admin().CreateBucket("bench").ok());
    keyspace_ = *database_->Resolve({.bucket = "bench"});
  }
  // Loading is done without syncing; what is measured syncs.
  void MakeDurable() {
    database_.reset();
    Open({});
  }
  void Load(uint64_t first, size_t count, const Bodies& bodies) {
    db::Commit commit;
    for (size_t i = 0; i < count; ++i) {
      commit.writes.push_back(
          db::PutWrite(keyspace_, Key(first + i), db::Document{.body = bodies[first + i]}));
    }
    CHECK(database_->Apply(std::move(commit)).status.ok());
  }
  db::Commit RandomPut(std::mt19937_64& random, uint64_t documents, const Bodies& bodies) {
    const uint64_t n = random() % documents;
    db::Commit commit;
    commit.writes.push_back(db::PutWrite(keyspace_, Key(n), db::Document{.body = bodies[n]}));
    return commit;
  }
  // `count` commits of one document each, `in_flight` of them waiting at any time.
  size_t WriteRandom(std::mt19937_64& random, uint64_t documents, size_t in_flight, size_t count,
                     const Bodies& bodies) {
    if (in_flight == 1) {
      for (size_t i = 0; i < count; ++i) {
        CHECK(database_->Apply(RandomPut(random, documents, bodies)).status.ok());
      }
      return count;
    }
    std::counting_semaphore<> free(static_cast<std::ptrdiff_t>(in_flight));
    for (size_t i = 0; i < count; ++i) {
      free.acquire();
      database_->Submit(RandomPut(random, documents, bodies), [&free](db::CommitResult result) {
        CHECK(result.status.ok());
        free.release();
      });
    }
    for (size_t i = 0; i < in_flight; ++i) free.acquire();
    return count;
  }
  db::Database& database() { return *database_; }
  db::KeyspaceId keyspace() const { return keyspace_; }

 private:
  void Open(const db::DatabaseOptions& options) {
    auto opened = db::Database::Open(path_, options, clock_);
    CHECK(opened);
    database_ = std::move(*opened);
  }
  const std::string path_;
  SystemClock clock_;
  std::unique_ptr<db::Database> database_;
  db::KeyspaceId keyspace_ = 0;
};

void BenchReads(Ours& ours, Raw& raw, uint64_t documents, const std::string& size) {
  std::mt19937_64 our_random(1);
  std::mt19937_64 raw_random(1);
  constexpr size_t kReads = 1000;
  const Comparison reads = Compare(
      kSeconds,
      [&] {
        db::PinnedDocument document;
        for (size_t i = 0; i < kReads; ++i) {
          const auto found =
              ours.database().Get(ours.keyspace(), Key(our_random() % documents), &document);
          CHECK(found && *found && document->body.size() > 1000);
        }
        return kReads;
      },
      [&] {
        rocksdb::PinnableSlice value;
        for (size_t i = 0; i < kReads; ++i) {
          CHECK(raw.db()
                    .Get({}, raw.db().DefaultColumnFamily(), Key(raw_random() % documents), &value)
                    .ok());
          CHECK(value.size() > 1000);
          value.Reset();
        }
        return kReads;
      });
  Report("point reads, " + size + " documents", reads, "reads/s", "raw RocksDB get", "0.7");
}

void BenchWrites(Ours& ours, Raw& raw, uint64_t documents, const std::string& size,
                 const Bodies& bodies) {
  for (size_t in_flight : {1, 16, 256}) {
    std::mt19937_64 our_random(2);
    std::mt19937_64 raw_random(2);
    const Comparison writes = Compare(
        kSeconds,
        [&] {
          return ours.WriteRandom(our_random, documents, in_flight,
                                  std::max<size_t>(in_flight * 16, 64), bodies);
        },
        [&] { return raw.WriteRandom(raw_random, documents, in_flight, bodies); });
    Report("durable writes, " + std::to_string(in_flight) + " in flight, " + size + " documents",
           writes, "commits/s", "raw RocksDB, same batch and sync", "0.7");
  }
}

// Delivery of the log's changes, against an iteration over rows of the same size.
void BenchFeed(Ours& ours, Raw& raw, uint64_t documents, const std::string& size,
               const Bodies& bodies) {
  db::FollowerOptions follower;
  follower.name = "bench";
  follower.keyspaces = {ours.keyspace()};
  CHECK(ours.database().followers().Create(follower).ok());
  const db::CursorState start = *ours.database().followers().ReadCursor({"bench", 0, 0});
  for (uint64_t first = 0; first < documents; first += kLoadBatch) {
    ours.Load(first, kLoadBatch, bodies);
  }
  const Comparison feed = Compare(
      0,
      [&] {
        db::Feed reader(ours.database(), 0, {ours.keyspace()}, start);
        size_t bytes = 0;
        size_t given = 0;
        while (const size_t n = *reader.Read(10'000, [&](const db::Change& change) {
          bytes += change.after->body.size();
          return true;
        })) {
          given += n;
        }
        CHECK(given == documents && bytes > 1000 * documents);
        return given;
      },
      [&] {
        rocksdb::ReadOptions options;
        options.fill_cache = false;
        options.readahead_size = 256 << 10;
        const std::unique_ptr<rocksdb::Iterator> rows(raw.db().NewIterator(options));
        size_t bytes = 0;
        size_t given = 0;
        for (rows->SeekToFirst(); rows->Valid(); rows->Next(), ++given) {
          bytes += rows->value().size();
        }
        CHECK(given == documents && bytes > 1000 * documents);
        return given;
      });
  Report("feed delivery, " + size + " documents", feed, "changes/s", "RocksDB iterator", "0.5");
  CHECK(ours.database().followers().Drop("bench").ok());
}

void BenchSize(const std::string& directory, uint64_t documents, const std::string& size) {
  const Bodies bodies;
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  {
    Ours ours(directory + "/ours");
    Raw raw(directory + "/raw");
    for (uint64_t first = 0; first < documents; first += kLoadBatch) {
      ours.Load(first, kLoadBatch, bodies);
      raw.Write(first, kLoadBatch, false, bodies);
    }
    BenchFeed(ours, raw, documents, size, bodies);
    ours.MakeDurable();  // which moves what is in memory to files, so the other side does too
    CHECK(raw.db().Flush({}).ok());
    BenchReads(ours, raw, documents, size);
    BenchWrites(ours, raw, documents, size, bodies);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace sluice::bench

int main() {
  const std::string directory = (std::filesystem::current_path() / "build" / "bench-data").string();
  sluice::bench::BenchSize(directory, 10'000, "10k");
  sluice::bench::BenchSize(directory, 1'000'000, "1M");
  return 0;
}
