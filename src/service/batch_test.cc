// Batches and imports, without a protocol.
#include "service/batch.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/test_database.h"
#include "service/import.h"

namespace sluice::service {
namespace {

using testing::ElementsAre;

class BatchTest : public db::DatabaseTest {
 protected:
  db::Write PutOf(std::string key, std::string body, db::Precondition condition = {}) {
    return db::PutWrite(keyspace_, std::move(key), Json(std::move(body)), condition);
  }
  static std::vector<db::Write> List(auto... writes) {
    std::vector<db::Write> list;
    (list.push_back(std::move(writes)), ...);
    return list;
  }
};

TEST_F(BatchTest, ReadsInTheOrderAskedFor) {
  Put("a", "1");
  Put("b", "2");
  std::vector<std::string> seen;
  const Status read =
      ReadBatch(*database_, keyspace_, {"b", "none", "a"},
                [&](std::string_view key, const Result<const db::DocumentView*>& found) {
                  seen.push_back(std::string(key) + "=" +
                                 (*found == nullptr ? "-" : std::string((*found)->body)));
                  return OkStatus();
                });
  EXPECT_TRUE(read.ok());
  EXPECT_THAT(seen, ElementsAre("b=2", "none=-", "a=1"));
  EXPECT_EQ(
      ReadBatch(*database_, keyspace_, {""}, [](auto, const auto&) { return OkStatus(); }).id(),
      "document.invalid_key");
}

TEST_F(BatchTest, TogetherIsAllOrNone) {
  Put("a", "1");
  const auto refused = WriteTogether(
      *database_, "ann", List(PutOf("b", "2"), PutOf("a", "3", db::Precondition::Absent())));
  EXPECT_EQ(refused.error().id(), "document.exists");
  EXPECT_EQ(refused.error().fields().at("write"), "1");
  EXPECT_EQ(Get("b"), "-");
  const auto written = WriteTogether(*database_, "ann", List(PutOf("b", "2"), PutOf("a", "3")));
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_EQ(written->writes.size(), 2u);
  EXPECT_EQ(Get("a") + Get("b"), "32");
  EXPECT_TRUE(WriteTogether(*database_, "ann", {})->writes.empty());
}

class ShardedBatchTest : public BatchTest {
 protected:
  ShardedBatchTest() { options_.shards = 4; }
};

TEST_F(ShardedBatchTest, TogetherIsAllOrNoneInAllShards) {
  std::set<db::ShardId> shards;
  const auto writes = [&](db::Precondition last) {
    std::vector<db::Write> list;
    for (int i = 0; i < 20; ++i) {
      const std::string key = "k" + std::to_string(i);
      shards.insert(database_->ShardOfKey(key));
      list.push_back(PutOf(key, std::to_string(i), i == 19 ? last : db::Precondition()));
    }
    return list;
  };
  const auto refused = WriteTogether(*database_, "ann", writes(db::Precondition::Present()));
  EXPECT_EQ(refused.error().id(), "document.not_found");
  EXPECT_EQ(refused.error().fields().at("write"), "19");
  EXPECT_EQ(shards.size(), 4u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Get("k" + std::to_string(i)), "-");
  const auto written = WriteTogether(*database_, "ann", writes({}));
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_EQ(written->writes.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Get("k" + std::to_string(i)), std::to_string(i));
}

TEST_F(BatchTest, EachIsForItself) {
  Put("a", "1");
  const auto results = WriteEach(
      *database_, "ann", List(PutOf("a", "3", db::Precondition::Absent()), PutOf("b", "2")));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].status.id(), "document.exists");
  EXPECT_TRUE(results[1].status.ok());
  EXPECT_EQ(Get("a") + Get("b"), "12");
}

TEST_F(BatchTest, HasALimit) {
  EXPECT_TRUE(CheckBatchSize(kMaxBatch, "keys").ok());
  const Status refused = CheckBatchSize(kMaxBatch + 1, "keys");
  EXPECT_EQ(refused.id(), "batch.too_large");
}

TEST_F(BatchTest, AnImportCountsWhatBecameOfItsDocuments) {
  Put("a", "1");
  Import import(*database_, {.actor = "ann"});
  import.Write(1, PutOf("a", "2"));
  import.Write(2, PutOf("b", "1"));
  import.Fail(3, Error(Code::kInvalidArgument, "json.invalid", "no JSON"));
  import.Write(4, PutOf("b", "2"));
  const ImportOutcome outcome = import.Finish();
  EXPECT_EQ(outcome.imported, 3u);
  EXPECT_EQ(outcome.replaced, 2u);
  EXPECT_EQ(outcome.failed, 1u);
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_EQ(outcome.errors.at(3).id(), "json.invalid");
  EXPECT_EQ(Get("a") + Get("b"), "22");
}

TEST_F(BatchTest, AnImportThatInsertsReplacesNothing) {
  Put("a", "1");
  Import import(*database_, {.insert = true});
  import.Write(7, PutOf("a", "2"));
  import.Write(8, PutOf("b", "2"));
  const ImportOutcome outcome = import.Finish();
  EXPECT_EQ(outcome.imported, 1u);
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_EQ(outcome.errors.at(7).id(), "document.exists");
  EXPECT_EQ(Get("a") + Get("b"), "12");
}

// The first errors are kept, in whatever order they come.
TEST_F(BatchTest, AnImportReportsTheFirstErrors) {
  Import import(*database_, {});
  const uint64_t most = 3 * ImportOutcome::kMaxReported;
  for (uint64_t number = most; number > 0; --number) {
    import.Fail(number, Error(Code::kInvalidArgument, "json.invalid", "line {}", number));
  }
  const ImportOutcome outcome = import.Finish();
  EXPECT_EQ(outcome.failed, most);
  EXPECT_EQ(outcome.errors.size(), ImportOutcome::kMaxReported);
  EXPECT_EQ(outcome.errors.begin()->first, 1u);
}

}  // namespace
}  // namespace sluice::service
