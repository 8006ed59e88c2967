// A database in a temporary directory, for tests.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/signal.h"
#include "db/database.h"

namespace sluice::db {

class TestDirectory {
 public:
  TestDirectory() {
    std::string path = (std::filesystem::temp_directory_path() / "sluice_test_XXXXXX").string();
    CHECK(mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Waits until `holds` is true. It looks again after each group of commits.
inline void AwaitCommitted(Database& database, const std::function<bool()>& holds) {
  Signal committed;
  std::vector<std::shared_ptr<void>> listeners;
  for (ShardId shard = 0; shard < database.shard_count(); ++shard) {
    listeners.push_back(
        database.followers().OnCommitted(shard, [&](const Committed&) { committed.Wake(); }));
  }
  while (true) {
    const uint64_t seen = committed.news();
    if (holds()) return;
    committed.Wait(seen);
  }
}

// Background work is off: tests call ExpireNow, TrimNow, StampAccessesNow. The clock stands still.
class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() {
    options_.expiry_interval_ms = 0;
    options_.trim_interval_ms = 0;
    options_.access_interval_ms = 0;
  }

  void SetUp() override {
    Open();
    ASSERT_TRUE(database_->admin().CreateBucket("b").ok());
    keyspace_ = *database_->Resolve({.bucket = "b"});
  }
  void Open() {
    auto opened = Database::Open(directory_ / "data", options_, clock_);
    ASSERT_TRUE(opened) << opened.error().ToString();
    database_ = std::move(*opened);
  }
  void Reopen() {
    database_.reset();
    Open();
  }

  static Document Json(std::string body, uint64_t expiry_ms = 0) {
    Document document;
    document.body = std::move(body);
    document.expiry_ms = expiry_ms;
    return document;
  }
  CommitResult Apply(Write write) {
    Commit commit;
    commit.shard = database_->ShardOf(write.keyspace, write.key);
    commit.writes.push_back(std::move(write));
    return database_->Apply(std::move(commit));
  }
  CommitResult Put(const std::string& key, std::string body, Precondition precondition = {}) {
    return Apply(PutWrite(keyspace_, key, Json(std::move(body)), precondition));
  }
  CommitResult Delete(const std::string& key, Precondition precondition = {}) {
    return Apply(DeleteWrite(keyspace_, key, precondition));
  }
  // The body, or "-" when there is none.
  std::string Get(const std::string& key) {
    const auto document = database_->Get(keyspace_, key);
    EXPECT_TRUE(document);
    return *document ? (*document)->body : "-";
  }

  TestDirectory directory_;
  DatabaseOptions options_;
  FakeClock clock_;
  std::unique_ptr<Database> database_;
  KeyspaceId keyspace_ = 0;
};

}  // namespace sluice::db
