// Procedures, functions of SQL, triggers and consumers whose rows somebody else writes: another
// manager over the same database, or the test itself.
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/catalog_rows.h"
#include "procedure/test_audit.h"
#include "procedure/test_procedures.h"

namespace sluice::procedure {
namespace {

using testing::HasSubstr;

class FollowRowsTest : public ProceduresTest {
 protected:
  void TearDown() override {
    other_.reset();
    other_engine_.reset();
    ProceduresTest::TearDown();
  }
  // Triggers run in both managers, so tests of triggers have no other one.
  void StartOther() {
    other_engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions());
    other_ = std::make_unique<Manager>(*other_engine_, ManagerOptions());
    ASSERT_TRUE(other_->Start().ok());
  }
  // Runs a statement in the other manager.
  void Elsewhere(std::string_view statement) {
    auto run = other_engine_->Query(statement, {}, {});
    ASSERT_TRUE(run) << run.error().ToString();
    while ((*run)->Next()) {
    }
    ASSERT_TRUE((*run)->status().ok()) << (*run)->status().ToString();
  }
  Value RowOf(const std::string& trigger) {
    const std::string key = std::string(kTriggerRows) + trigger;
    std::string row;
    EXPECT_TRUE(*database_->rows().Get(db::RowFamily::kMeta, db::kDefinitionsShard, key, &row));
    return *db::DecodeMetaJson(key, row);
  }
  void WriteRow(const std::string& trigger, std::optional<Value> value) {
    db::Commit commit;
    commit.rows.push_back(
        {db::RowFamily::kMeta, db::kDefinitionsShard, std::string(kTriggerRows) + trigger,
         value ? std::optional(db::EncodeMetaJson(*value)) : std::nullopt, std::nullopt});
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  bool Has(const std::string& trigger) { return manager_->triggers().Has(trigger); }

  std::unique_ptr<query::QueryEngine> other_engine_;
  std::unique_ptr<Manager> other_;
};

TEST_F(FollowRowsTest, Procedures) {
  StartOther();
  Elsewhere("CREATE PROCEDURE p VERSION 'a' {local function main() db:emit('one') end}");
  EXPECT_EQ(Ask("EXEC PROCEDURE p()"), "{\"$0\":\"one\"}\n");
  Elsewhere("CREATE PROCEDURE p VERSION 'b' {local function main() db:emit('two') end}");
  EXPECT_EQ(Ask("EXEC PROCEDURE p()"), "{\"$0\":\"one\"}\n");
  Elsewhere("PUT DEFAULT PROCEDURE p 'b'");
  EXPECT_EQ(Ask("EXEC PROCEDURE p()"), "{\"$0\":\"two\"}\n");
  Elsewhere("CREATE PROCEDURE p VERSION 'b' {local function main() db:emit('three') end}");
  EXPECT_EQ(Ask("EXEC PROCEDURE p()"), "{\"$0\":\"three\"}\n");
  Elsewhere("DROP PROCEDURE p VERSION 'a'");
  EXPECT_EQ(manager_->List().size(), 1u);
  // What the next number is comes from the row, too.
  Elsewhere("CREATE PROCEDURE p {local function main() db:emit('four') end}");
  EXPECT_EQ(Ask("CREATE PROCEDURE p {local function main() end}"), "{\"version\":\"2\"}\n");
  Elsewhere("DROP PROCEDURE p");
  EXPECT_THAT(Ask("EXEC PROCEDURE p()"), HasSubstr("procedure.not_found"));
  EXPECT_TRUE(manager_->List().empty());
}

TEST_F(FollowRowsTest, FunctionsOfSql) {
  StartOther();
  Elsewhere("CREATE PROCEDURE twice VERSION 'a' {local function twice(n) return n * 2 end}");
  EXPECT_THAT(Ask("SELECT RAW twice(21)"), HasSubstr("error"));
  Elsewhere("CREATE LUA SCALAR FUNCTION twice");
  EXPECT_EQ(Ask("SELECT RAW twice(21)"), "42\n");
  // The same statement, whose plan is kept.
  Elsewhere("CREATE PROCEDURE twice VERSION 'a' {local function twice(n) return n .. n end}");
  EXPECT_EQ(Ask("SELECT RAW twice('x')"), "\"xx\"\n");
  EXPECT_THAT(Ask("DROP PROCEDURE twice"), HasSubstr("procedure.in_use"));
  Elsewhere("DROP LUA SCALAR FUNCTION twice");
  EXPECT_THAT(Ask("SELECT RAW twice(21)"), HasSubstr("error"));
  EXPECT_THAT(Ask("DROP LUA SCALAR FUNCTION twice"), HasSubstr("procedure.function_not_found"));
}

TEST_F(FollowRowsTest, AProcedureThatIsBroughtBackIsCompiledAgain) {
  StartOther();
  Elsewhere("CREATE PROCEDURE p VERSION 'a' {local function main() db:emit('one') end}");
  EXPECT_EQ(Ask("EXEC PROCEDURE p()"), "{\"$0\":\"one\"}\n");
  Elsewhere("DROP PROCEDURE p");
  Elsewhere("CREATE PROCEDURE p VERSION 'a' {local function main() db:emit('two') end}");
  EXPECT_EQ(Ask("EXEC PROCEDURE p()"), "{\"$0\":\"two\"}\n");
}

TEST_F(FollowRowsTest, ATriggerEndsAndBeginsWithItsRow) {
  Ask("CREATE TABLE t(i int, j int)");
  Ask("CREATE TABLE audit(type cstring(4), tbl cstring(64), logtime datetime, i int, j int, "
      "old_i int, old_j int)");
  Ask(AuditProcedure());
  ASSERT_EQ(Ask("CREATE LUA TRIGGER audit ON (TABLE t FOR INSERT)"), "");
  Ask("INSERT INTO t VALUES (1, 1)");
  EXPECT_TRUE(Becomes("SELECT RAW i FROM audit", "1\n"));

  Value row = RowOf("audit");
  WriteRow("audit", std::nullopt);
  EXPECT_TRUE(Eventually([&] { return !Has("audit"); }));
  EXPECT_EQ(Ask("SELECT * FROM comdb2_triggers"), "");
  Ask("INSERT INTO t VALUES (2, 2)");
  WriteRow("audit", row);
  EXPECT_TRUE(Becomes("SELECT RAW i FROM audit ORDER BY i", "1\n2\n"));
  EXPECT_TRUE(Has("audit"));

  row.Set("held", Value(true));
  WriteRow("audit", row);
  EXPECT_TRUE(Eventually([&] {
    return manager_->triggers().ProgressOf("audit")->state == TriggerProgress::State::kHeld;
  }));
  Ask("INSERT INTO t VALUES (3, 3)");
  row.Set("held", Value(false));
  WriteRow("audit", row);
  EXPECT_TRUE(Becomes("SELECT RAW i FROM audit ORDER BY i", "1\n2\n3\n"));
  EXPECT_EQ(Ask("DROP LUA TRIGGER audit"), "");
  EXPECT_EQ(database_->catalog()->FindFollower("trigger:audit"), nullptr);
}

// The rows of its follower and of its definition are those that Create writes.
TEST_F(FollowRowsTest, AConsumerIsMadeByItsFollowerAndItsRow) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE PROCEDURE c VERSION 'a' {local function main() end}");
  ASSERT_EQ(Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)"), "");
  const Value row = RowOf("c");
  const std::vector<db::KeyspaceId> keyspaces =
      database_->catalog()->FindFollower("trigger:c")->keyspaces;
  ASSERT_EQ(Ask("DROP LUA CONSUMER c"), "");

  db::FollowerOptions follower;
  follower.name = "trigger:c";
  follower.keyspaces = keyspaces;
  follower.needs_before = true;
  ASSERT_TRUE(database_->followers().Create(follower).ok());
  EXPECT_FALSE(Has("c"));
  WriteRow("c", row);
  EXPECT_TRUE(Eventually([&] { return Has("c"); }));
  Ask("INSERT INTO t VALUES (1)");
  EXPECT_EQ(manager_->triggers().StatusOf("c")->depth, 1u);
  EXPECT_EQ(manager_->TriggersOn(keyspaces.front()), std::vector<std::string>{"c"});
  EXPECT_THAT(Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)"), HasSubstr("trigger.exists"));
  EXPECT_THAT(Ask("DROP PROCEDURE c"), HasSubstr("procedure.in_use"));
}

TEST_F(FollowRowsTest, ARowWithoutAFollowerStartsNothing) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE PROCEDURE c VERSION 'a' {local function main() end}");
  ASSERT_EQ(Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)"), "");
  const Value row = RowOf("c");
  ASSERT_EQ(Ask("DROP LUA CONSUMER c"), "");
  WriteRow("c", row);
  Restart();
  EXPECT_FALSE(Has("c"));
  std::string stored;
  EXPECT_FALSE(
      *database_->rows().Get(db::RowFamily::kMeta, db::kDefinitionsShard, "triggers/c", &stored));
}

// The trigger waits for long after a failure. The new text comes from elsewhere.
TEST_F(FollowRowsTest, AFailingTriggerHearsOfNewText) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE TABLE done(i int)");
  Ask("CREATE PROCEDURE p VERSION 'a' {local function main(e) return -1 end}");
  ASSERT_EQ(Ask("CREATE LUA TRIGGER p ON (TABLE t FOR INSERT)"), "");
  Ask("INSERT INTO t VALUES (7)");
  EXPECT_TRUE(Eventually([&] { return manager_->triggers().ProgressOf("p")->failures > 0; }));
  Store store(*database_);
  ASSERT_TRUE(store.Load().ok());
  ASSERT_TRUE(store.Create("p", Value("a"), "local function main(e) return 0 end"));
  EXPECT_TRUE(Eventually([&] { return manager_->triggers().ProgressOf("p")->handled == 1; }));
}

}  // namespace
}  // namespace sluice::procedure
