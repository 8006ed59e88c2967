#include "flow_engine/step_store.h"

#include "db/test_database.h"

namespace sluice::flow_engine {
namespace {

using Kind = StoreResult::Kind;

class StepStoreTest : public db::DatabaseTest {
 protected:
  void Put(const std::string& key, const std::string& value) {
    db::Commit commit;
    commit.rows.push_back(RunRow(key, value));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  Kind KindOf(const Status& status, const std::optional<std::string>& before,
              const std::optional<std::string>& after) {
    RunThreads threads(2);
    const StepStore store(*database_, threads, nullptr);
    return store.ResultOf("run", status, before, after).kind;
  }
  const Status conflict_ = Error(Code::kConflict, "row.changed", "changed");
};

TEST_F(StepStoreTest, TellsAConflictFromAnotherOwner) {
  Put(LiveKey("run"), "v1");
  EXPECT_EQ(KindOf(OkStatus(), "v1", "v2"), Kind::kStored);
  EXPECT_EQ(KindOf(Error(Code::kIo, "storage.write", "x"), "v1", "v2"), Kind::kRefused);
  // The run is as this process left it: a function's writes met a conflict.
  EXPECT_EQ(KindOf(conflict_, "v1", "v2"), Kind::kRefused);
  EXPECT_EQ(KindOf(conflict_, "v0", "v2"), Kind::kLost);
  // The commit was stored before, and nobody heard of it.
  EXPECT_EQ(KindOf(conflict_, "v0", "v1"), Kind::kStored);
}

TEST_F(StepStoreTest, AnotherOwnerHasEndedOrBegunTheRun) {
  EXPECT_EQ(KindOf(conflict_, "v1", std::nullopt), Kind::kLost);
  EXPECT_EQ(KindOf(conflict_, std::nullopt, "v1"), Kind::kRefused);
  Put(HeadKey("run"), "head");
  EXPECT_EQ(KindOf(conflict_, std::nullopt, "v1"), Kind::kLost);
}

}  // namespace
}  // namespace sluice::flow_engine
