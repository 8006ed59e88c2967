// Writes are settled on the writer's thread, over the document that it finds. Here another one
// gets in between, while the committer is held up, and they must come out as if it had not.
#include <semaphore>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/test_database.h"
#include "doctype/test_types.h"
#include "doctype/type_json.h"
#include "doctype_db/policy_compiler.h"
#include "json/print.h"

namespace sluice::doctype_db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kType = R"(type: user
keyspace: b
match: { key: "user:{userId}" }
properties: { version: _ver, created: _created }
revisions: { keep: 3 }
)";

class ReadAheadTest : public db::DatabaseTest {
 protected:
  ReadAheadTest() {
    options_.policy_compiler = std::make_shared<PolicyCompiler>(clock_);
    options_.durability = db::Durability::kNone;
  }
  void SetUp() override {
    DatabaseTest::SetUp();
    SetType(kType);
  }
  void TearDown() override { LetGo(); }

  void SetType(std::string_view text) {
    const auto type = doctype::TypeOf(text);
    ASSERT_TRUE(database_->admin()
                    .PutType({.bucket = "b"}, {"user", json::ToText(doctype::ToJson(*type))})
                    .ok());
  }

  // From now on the committer does nothing, until LetGo, which waits for all that was submitted.
  void HoldUp() {
    held_ = true;
    db::Commit commit;
    commit.writes.push_back(db::PutWrite(keyspace_, "other", Json("1")));
    std::binary_semaphore reached(0);
    database_->Submit(std::move(commit), [&](const db::CommitResult&) {
      reached.release();
      go_on_.acquire();
    });
    reached.acquire();
  }
  void Submit(db::Write write) {
    ++submitted_;
    db::Commit commit;
    commit.writes.push_back(std::move(write));
    database_->Submit(std::move(commit), [this](const db::CommitResult& result) {
      EXPECT_TRUE(result.status.ok()) << result.status.ToString();
      done_.release();
    });
  }
  void SubmitPut(const std::string& key, std::string body) {
    Submit(db::PutWrite(keyspace_, key, Json(std::move(body))));
  }
  void AwaitQueued(uint64_t commits) {
    while (database_->operations().Stats().shards[0].queued < commits) std::this_thread::yield();
  }
  void LetGo() {
    if (!std::exchange(held_, false)) return;
    go_on_.release();
    for (; submitted_ > 0; --submitted_) done_.acquire();
  }

  std::vector<std::string> Revisions(const std::string& key) {
    std::vector<std::string> bodies;
    const auto revisions = database_->revisions().List(keyspace_, key);
    EXPECT_TRUE(revisions);
    for (const db::Revision& revision : *revisions) {
      db::PinnedDocument document;
      EXPECT_TRUE(*database_->revisions().Get(keyspace_, key, revision.version, &document));
      bodies.emplace_back(document->body);
    }
    return bodies;
  }

 private:
  bool held_ = false;
  size_t submitted_ = 0;
  std::binary_semaphore go_on_{0};
  std::counting_semaphore<> done_{0};
};

constexpr uint64_t kStart = 1'700'000'000'000;

TEST_F(ReadAheadTest, WritersOfOneDocument) {
  ASSERT_TRUE(Put("user:1", R"({"n":1})").status.ok());
  HoldUp();
  SubmitPut("user:1", R"({"n":2})");
  SubmitPut("user:1", R"({"n":3})");
  LetGo();
  EXPECT_EQ(Get("user:1"), fmt::format(R"({{"_ver":3,"_created":{},"n":3}})", kStart));
  EXPECT_THAT(Revisions("user:1"),
              ElementsAre(fmt::format(R"({{"_ver":1,"_created":{},"n":1}})", kStart),
                          fmt::format(R"({{"_ver":2,"_created":{},"n":2}})", kStart)));
}

TEST_F(ReadAheadTest, WritersOfANewDocument) {
  HoldUp();
  SubmitPut("user:1", R"({"n":1})");
  clock_.AdvanceMs(1000);
  SubmitPut("user:1", R"({"n":2})");
  LetGo();
  EXPECT_EQ(Get("user:1"), fmt::format(R"({{"_ver":2,"_created":{},"n":2}})", kStart));
  EXPECT_THAT(Revisions("user:1"),
              ElementsAre(fmt::format(R"({{"_ver":1,"_created":{},"n":1}})", kStart)));
}

TEST_F(ReadAheadTest, TwoWritesOfOneCommit) {
  db::Commit commit;
  commit.writes.push_back(db::PutWrite(keyspace_, "user:1", Json(R"({"n":1})")));
  commit.writes.push_back(db::PutWrite(keyspace_, "user:1", Json(R"({"n":2})")));
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  EXPECT_EQ(Get("user:1"), fmt::format(R"({{"_ver":2,"_created":{},"n":2}})", kStart));
  EXPECT_EQ(Revisions("user:1").size(), 1u);
}

TEST_F(ReadAheadTest, ADeletionBefore) {
  ASSERT_TRUE(Put("user:1", R"({"n":1})").status.ok());
  HoldUp();
  clock_.AdvanceMs(1000);
  Submit(db::DeleteWrite(keyspace_, "user:1"));
  SubmitPut("user:1", R"({"n":2})");
  LetGo();
  EXPECT_EQ(Get("user:1"), fmt::format(R"({{"_ver":2,"_created":{},"n":2}})", kStart + 1000));
  EXPECT_EQ(Revisions("user:1").size(), 1u);
}

TEST_F(ReadAheadTest, ItExpiresBefore) {
  ASSERT_TRUE(
      Apply(db::PutWrite(keyspace_, "user:1", Json(R"({"n":1})", kStart + 500))).status.ok());
  HoldUp();
  SubmitPut("user:1", R"({"n":2})");
  clock_.AdvanceMs(1000);
  LetGo();
  EXPECT_EQ(Get("user:1"), fmt::format(R"({{"_ver":2,"_created":{},"n":2}})", kStart + 1000));
  EXPECT_THAT(Revisions("user:1"),
              ElementsAre(fmt::format(R"({{"_ver":1,"_created":{},"n":1}})", kStart)));
}

TEST_F(ReadAheadTest, ItsRevisionsAreErasedBefore) {
  ASSERT_TRUE(Put("user:1", R"({"n":1})").status.ok());
  ASSERT_TRUE(Put("user:1", R"({"n":2})").status.ok());
  HoldUp();
  std::thread eraser([&] { EXPECT_EQ(*database_->revisions().Erase(keyspace_, "user:1"), 1u); });
  AwaitQueued(1);
  SubmitPut("user:1", R"({"n":3})");
  LetGo();
  eraser.join();
  EXPECT_THAT(Revisions("user:1"),
              ElementsAre(fmt::format(R"({{"_ver":2,"_created":{},"n":2}})", kStart)));
  db::PinnedDocument erased;
  EXPECT_FALSE(*database_->revisions().Get(keyspace_, "user:1", 1, &erased));
}

TEST_F(ReadAheadTest, TheTypeChangesBefore) {
  ASSERT_TRUE(Put("user:1", R"({"n":1})").status.ok());
  HoldUp();
  std::thread changer([&] {
    SetType(
        "type: user\nkeyspace: b\nmatch: { key: \"user:{userId}\" }\n"
        "properties: { version: edition }\n");
  });
  AwaitQueued(1);
  SubmitPut("user:1", R"({"n":2})");
  LetGo();
  changer.join();
  EXPECT_EQ(Get("user:1"), R"({"edition":2,"n":2})");
  EXPECT_THAT(Revisions("user:1"), IsEmpty());
}

TEST_F(ReadAheadTest, TheKeyspaceIsFlushedBefore) {
  ASSERT_TRUE(Put("user:1", R"({"n":1})").status.ok());
  HoldUp();
  std::thread flusher(
      [&] { EXPECT_TRUE(database_->admin().FlushCollection({.bucket = "b"}).ok()); });
  AwaitQueued(1);
  SubmitPut("user:1", R"({"n":2})");
  LetGo();
  flusher.join();
  EXPECT_EQ(Get("user:1"), fmt::format(R"({{"_ver":1,"_created":{},"n":2}})", kStart));
  EXPECT_THAT(Revisions("user:1"), IsEmpty());
}

}  // namespace
}  // namespace sluice::doctype_db
