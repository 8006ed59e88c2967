// What several shards cost and bring, in one process: four writers on four shards against the same
// on one, with each writer's next commit after its last one or with 64 of them on their way, and
// commits of two documents in two shards against those of two documents in one.
#include <filesystem>
#include <memory>
#include <random>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "bench/measure.h"
#include "db/database.h"

namespace sluice::bench {
namespace {

constexpr int kWriters = 4;
constexpr uint64_t kDocuments = 10'000;
constexpr double kSeconds = 0.7;

std::string Key(uint64_t n) { return "user::" + std::to_string(n); }

class Server {
 public:
  Server(const std::string& path, uint16_t shards) {
    auto opened = db::Database::Open(path, {.shards = shards}, clock_);
    CHECK(opened);
    database_ = std::move(*opened);
    CHECK(database_->admin().CreateBucket("bench").ok());
    keyspace_ = *database_->Resolve({.bucket = "bench"});
  }

  // Each writer makes `count` commits of one document, `in_flight` of them on their way.
  size_t Write(std::vector<std::mt19937_64>& random, size_t in_flight, size_t count) {
    std::vector<std::thread> writers;
    for (std::mt19937_64& own : random) {
      writers.emplace_back([this, &own, in_flight, count] { WriteOne(own, in_flight, count); });
    }
    for (std::thread& writer : writers) writer.join();
    return count * random.size();
  }

  // Commits of two documents, which lie in the same shard or in two.
  size_t WritePairs(std::vector<std::mt19937_64>& random, bool apart, size_t count) {
    std::vector<std::thread> writers;
    for (std::mt19937_64& own : random) {
      writers.emplace_back([this, &own, apart, count] {
        for (size_t i = 0; i < count; ++i) {
          const std::string one = Key(own() % kDocuments);
          std::string other = Key(own() % kDocuments);
          while (apart != (ShardOf(one) != ShardOf(other))) other = Key(own() % kDocuments);
          db::Commit commit = Put(one);
          commit.writes.push_back(std::move(Put(other).writes[0]));
          CHECK(database_->Apply(std::move(commit)).status.ok());
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    return count * random.size();
  }

 private:
  db::ShardId ShardOf(const std::string& key) const { return database_->ShardOf(keyspace_, key); }
  db::Commit Put(const std::string& key) {
    db::Commit commit;
    commit.shard = ShardOf(key);
    commit.writes.push_back(db::PutWrite(keyspace_, key, db::Document{.body = body_}));
    return commit;
  }
  void WriteOne(std::mt19937_64& random, size_t in_flight, size_t count) {
    std::counting_semaphore<> free(static_cast<std::ptrdiff_t>(in_flight));
    for (size_t i = 0; i < count; ++i) {
      free.acquire();
      database_->Submit(Put(Key(random() % kDocuments)), [&free](db::CommitResult result) {
        CHECK(result.status.ok());
        free.release();
      });
    }
    for (size_t i = 0; i < in_flight; ++i) free.acquire();
  }

  const std::string body_ = "{\"text\":\"" + std::string(1000, 'x') + "\"}";
  SystemClock clock_;
  std::unique_ptr<db::Database> database_;
  db::KeyspaceId keyspace_ = 0;
};

std::vector<std::mt19937_64> Generators() {
  std::vector<std::mt19937_64> random;
  for (unsigned seed = 1; seed <= kWriters; ++seed) random.emplace_back(seed);
  return random;
}

void Bench(const std::string& directory) {
  Server four(directory + "/four", 4);
  Server one(directory + "/one", 1);
  for (const size_t in_flight : {1, 64}) {
    auto random = Generators();
    auto yardstick_random = Generators();
    const size_t count = in_flight * 32;
    const Comparison writes = Compare(
        kSeconds, [&] { return four.Write(random, in_flight, count); },
        [&] { return one.Write(yardstick_random, in_flight, count); });
    Report("durable writes in four shards, four writers, " + std::to_string(in_flight) +
               " in flight each",
           writes, "commits/s", "one shard", "");
  }
  auto random = Generators();
  auto yardstick_random = Generators();
  const Comparison pairs = Compare(
      kSeconds, [&] { return four.WritePairs(random, true, 32); },
      [&] { return four.WritePairs(yardstick_random, false, 32); });
  Report("durable commits of two documents in two shards, four writers", pairs, "commits/s",
         "two documents in one shard", "");
}

}  // namespace
}  // namespace sluice::bench

int main() {
  const std::string directory = (std::filesystem::current_path() / "build" / "bench-data").string();
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  sluice::bench::Bench(directory);
  std::filesystem::remove_all(directory);
  return 0;
}
