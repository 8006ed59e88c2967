// A follower that is killed again and again (run_cursor_crash.py kills it). Writers count up
// documents in one keyspace; a durable follower copies each change to another keyspace and counts
// it, in the commit that moves its cursor.
//
// Usage: cursor_worker DIR          works until it is killed
//        cursor_worker DIR --check  consumes what is left, then checks that every change took
//        effect
//                                   exactly once: as many were consumed as were ever made
// Both check first that the cursor and its effects agree. Prints what it found wrong and exits 1.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "db/database.h"
#include "db/feed.h"

namespace sluice::db {
namespace {

constexpr int kWriters = 4;
constexpr uint64_t kKeys = 40;
constexpr size_t kBatch = 64;
const char* const kFollower = "copier";
const char* const kConsumed = "consumed";

[[noreturn]] void Wrong(const std::string& what) {
  std::printf("%s\n", what.c_str());
  std::exit(1);
}

class Worker {
 public:
  explicit Worker(const std::string& directory) {
    DatabaseOptions options;
    options.trim_interval_ms = 50;  // the log is trimmed all the time
    auto opened = Database::Open(directory, options, clock_);
    if (!opened) Wrong(opened.error().ToString());
    database_ = std::move(*opened);
    source_ = KeyspaceOf("source");
    target_ = KeyspaceOf("target");
    if (database_->catalog()->FindFollower(kFollower) == nullptr) {
      const Status made =
          database_->followers().Create({.name = kFollower, .keyspaces = {source_}});
      if (!made.ok()) Wrong(made.ToString());
    }
  }

  // The cursor never stands behind or ahead of what was consumed.
  void CheckCursor() {
    const CursorState cursor = Cursor();
    const std::string counted = std::to_string(cursor.events);
    const std::string stored = Body(target_, kConsumed).value_or("0");
    if (counted != stored) {
      Wrong("the cursor has consumed " + counted + " changes, their effects say " + stored);
    }
  }

  void WriteForever(uint64_t seed) {
    Random random(seed);
    while (true) {
      Commit commit;
      commit.writes.push_back(CounterWrite(source_, "key" + std::to_string(random.Below(kKeys)),
                                           {.delta = 1, .initial = 1}));
      CHECK(database_->Apply(std::move(commit)).status.ok());
    }
  }

  // Consumes one batch; how many changes it had.
  size_t Consume() {
    const CursorState before = Cursor();
    Feed feed(*database_, 0, {source_}, before);
    Commit commit;
    const auto read = feed.Read(kBatch, [&](const Change& change) {
      commit.writes.push_back(PutWrite(target_, std::string(change.key), change.after->Copy()));
      commit.writes.back().document.cas = 0;
      return true;
    });
    if (!read) Wrong(read.error().ToString());
    if (*read == 0) return 0;
    const auto count = static_cast<int64_t>(*read);
    commit.writes.push_back(CounterWrite(target_, kConsumed, {.delta = count, .initial = count}));
    commit.cursor_moves.push_back({{kFollower, 0, 0}, before, feed.state()});
    const CommitResult result = database_->Apply(std::move(commit));
    if (!result.status.ok()) Wrong(result.status.ToString());
    return *read;
  }

  // With nobody writing: all changes were consumed, each once, the last of each document last.
  void CheckEverything() {
    while (Consume() > 0) {
    }
    CheckCursor();
    uint64_t made = 0;
    for (uint64_t n = 0; n < kKeys; ++n) {
      const std::string key = "key" + std::to_string(n);
      const auto source = Body(source_, key);
      if (source != Body(target_, key)) Wrong("the copy of " + key + " is not what it should be");
      made += source ? std::stoull(*source) : 0;
    }
    if (Cursor().events != made) {
      Wrong(std::to_string(made) + " changes were made, " + std::to_string(Cursor().events) +
            " were consumed");
    }
    std::printf("%llu changes, each consumed once\n", static_cast<unsigned long long>(made));
  }

 private:
  KeyspaceId KeyspaceOf(const std::string& bucket) {
    const Status made = database_->admin().CreateBucket(bucket);
    if (!made.ok() && made.code() != Code::kAlreadyExists) Wrong(made.ToString());
    return *database_->Resolve({.bucket = bucket});
  }
  CursorState Cursor() {
    const auto cursor = database_->followers().ReadCursor({kFollower, 0, 0});
    if (!cursor) Wrong(cursor.error().ToString());
    return *cursor;
  }
  std::optional<std::string> Body(KeyspaceId keyspace, const std::string& key) {
    const auto document = database_->Get(keyspace, key);
    if (!document) Wrong(document.error().ToString());
    if (!*document) return std::nullopt;
    return (*document)->body;
  }

  SystemClock clock_;
  std::unique_ptr<Database> database_;
  KeyspaceId source_ = 0;
  KeyspaceId target_ = 0;
};

[[noreturn]] void WorkForever(Worker& worker) {
  std::vector<std::thread> writers;
  for (uint64_t seed = 0; seed < kWriters; ++seed) {
    writers.emplace_back([&worker, seed] { worker.WriteForever(seed); });
  }
  while (true) {
    if (worker.Consume() == 0) std::this_thread::yield();
  }
}

}  // namespace
}  // namespace sluice::db

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s DIR [--check]\n", argv[0]);
    return 2;
  }
  sluice::db::Worker worker(argv[1]);
  worker.CheckCursor();
  if (argc == 2) sluice::db::WorkForever(worker);
  worker.CheckEverything();
  return 0;
}
