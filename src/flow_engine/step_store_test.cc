#include "flow_engine/step_store.h"

#include "db/test_database.h"

namespace sluice::flow_engine {
namespace {

using Kind = StoreResult::Kind;

class StepStoreTest : public db::DatabaseTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  StepStoreTest() { options_.shards = GetParam(); }
  void Put(const std::string& key, const std::string& value) {
    db::Commit commit;
    commit.shard = database_->ShardOfKey("run-1");
    commit.rows.push_back(RunRow(key, value));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  Kind KindOf(const Status& status, const std::optional<std::string>& before,
              const std::optional<std::string>& after) {
    RunThreads threads(2);
    const StepStore store(*database_, threads, nullptr);
    return store.ResultOf("run-1", status, before, after).kind;
  }
  const Status conflict_ = Error(Code::kConflict, "row.changed", "changed");
};

TEST_P(StepStoreTest, TellsAConflictFromAnotherOwner) {
  Put(LiveKey("run-1"), "v1");
  EXPECT_EQ(KindOf(OkStatus(), "v1", "v2"), Kind::kStored);
  EXPECT_EQ(KindOf(Error(Code::kIo, "storage.write", "x"), "v1", "v2"), Kind::kRefused);
  // The run is as this process left it: a function's writes met a conflict.
  EXPECT_EQ(KindOf(conflict_, "v1", "v2"), Kind::kRefused);
  EXPECT_EQ(KindOf(conflict_, "v0", "v2"), Kind::kLost);
  // The commit was stored before, and nobody heard of it.
  EXPECT_EQ(KindOf(conflict_, "v0", "v1"), Kind::kStored);
}

TEST_P(StepStoreTest, AnotherOwnerHasEndedOrBegunTheRun) {
  EXPECT_EQ(KindOf(conflict_, "v1", std::nullopt), Kind::kLost);
  EXPECT_EQ(KindOf(conflict_, std::nullopt, "v1"), Kind::kRefused);
  Put(HeadKey("run-1"), "head");
  EXPECT_EQ(KindOf(conflict_, std::nullopt, "v1"), Kind::kLost);
}

INSTANTIATE_TEST_SUITE_P(Shards, StepStoreTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::flow_engine
