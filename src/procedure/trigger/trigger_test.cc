// Triggers by SQL, as people make them.
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "procedure/test_audit.h"
#include "procedure/test_procedures.h"

namespace sluice::procedure {
namespace {

using testing::HasSubstr;

// The parameter is the number of shards.
class TriggerTest : public ProceduresTest, public testing::WithParamInterface<uint16_t> {
 protected:
  TriggerTest() { options_.shards = GetParam(); }

  void MakeAudit(std::string_view events = "INSERT AND UPDATE AND DELETE") {
    Ask("CREATE TABLE t(i int, j int)");
    Ask("CREATE TABLE audit(type cstring(4), tbl cstring(64), logtime datetime, i int, j int, "
        "old_i int, old_j int)");
    Ask(AuditProcedure());
    EXPECT_EQ(Ask(fmt::format("CREATE LUA TRIGGER audit ON (TABLE t FOR {})", events)), "");
  }
  // The rows of the audit, once there are so many.
  std::string Audit(int rows) {
    EXPECT_TRUE(Becomes("SELECT RAW count(*) FROM audit", fmt::format("{}\n", rows)));
    return Ask("SELECT type, i, j, old_i, old_j FROM audit");
  }
};

TEST_P(TriggerTest, TheSeedsAudit) {
  MakeAudit();
  Ask("INSERT INTO t VALUES(1,1),(1,2),(1,3),(1,4)");
  Ask("UPDATE t SET i = j WHERE j % 2 = 0");
  Ask("DELETE FROM t WHERE i % 2 <> 0");
  EXPECT_EQ(Audit(8), R"({"type":"add","i":1,"j":1,"old_i":null,"old_j":null}
{"type":"add","i":1,"j":2,"old_i":null,"old_j":null}
{"type":"add","i":1,"j":3,"old_i":null,"old_j":null}
{"type":"add","i":1,"j":4,"old_i":null,"old_j":null}
{"type":"upd","i":2,"j":2,"old_i":1,"old_j":2}
{"type":"upd","i":4,"j":4,"old_i":1,"old_j":4}
{"type":"del","i":null,"j":null,"old_i":1,"old_j":1}
{"type":"del","i":null,"j":null,"old_i":1,"old_j":3}
)");
  EXPECT_EQ(Ask("DROP LUA TRIGGER audit"), "");
  EXPECT_THAT(Ask("DROP LUA TRIGGER audit"), HasSubstr("trigger.not_found"));
  Ask("INSERT INTO t VALUES (9, 9)");
  EXPECT_EQ(Ask("SELECT RAW count(*) FROM audit"), "8\n");
  EXPECT_EQ(database_->catalog()->FindFollower("trigger:audit"), nullptr);
}

TEST_P(TriggerTest, GoesOnAfterARestart) {
  MakeAudit("INSERT");
  ASSERT_TRUE(manager_->triggers().Hold("audit", true).ok());
  Ask("INSERT INTO t VALUES (1, 1), (2, 2)");
  Restart();
  EXPECT_EQ(manager_->triggers().ProgressOf("audit")->handled, 0u);
  ASSERT_TRUE(manager_->triggers().Hold("audit", false).ok());
  EXPECT_THAT(Audit(2), HasSubstr("\"j\":1"));
  Restart();
  Ask("INSERT INTO t VALUES (3, 3)");
  Audit(3);
}

TEST_P(TriggerTest, AFailingRunIsTriedAgainAndStopsNothingElse) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE TABLE copy(i int)");
  Ask("CREATE PROCEDURE bad {local function main(event)\n"
      "db:table('copy'):insert(event.new)\n"
      "if event.new.i == 2 then error('poison') end return 0 end}");
  Ask("CREATE LUA TRIGGER bad ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1), (2), (3)");
  const auto failing = [&] {
    const auto progress = manager_->triggers().ProgressOf("bad");
    return progress->state == TriggerProgress::State::kFailing && progress->attempts() > 1;
  };
  EXPECT_TRUE(Eventually(failing));
  EXPECT_EQ(Ask("SELECT RAW i FROM copy"), "1\n");
  const TriggerProgress progress = *manager_->triggers().ProgressOf("bad");
  EXPECT_THAT(progress.error, HasSubstr("poison"));
  EXPECT_EQ(progress.first_failing()->event_id.size(), kEventIdBytes);
  // Mended: the event that failed comes again, without waiting for its pause, then those after it.
  const uint64_t news = (*manager_->triggers().Find("bad"))->signal().news();
  Ask("CREATE PROCEDURE bad VERSION 'mended' {local function main(event)\n"
      "return db:table('copy'):insert(event.new) end}");
  Ask("PUT DEFAULT PROCEDURE bad 'mended'");
  EXPECT_GT((*manager_->triggers().Find("bad"))->signal().news(), news);
  EXPECT_TRUE(Becomes("SELECT RAW i FROM copy", "1\n2\n3\n"));
}

TEST_P(TriggerTest, WhatMainReturnsDecides) {
  Ask("CREATE TABLE t(i int)");
  for (const auto& [body, error] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", "main returned nothing"},
           {"return 7", "main returned 7"},
           {"return 'no'", "main returned no"},
           {"db:begin() return 0", "a trigger has no begin"},
           {"db:emit(1) return 0", "no client"},
           {"while true do end", "instruction"}}) {
    Ask("CREATE PROCEDURE r VERSION 'x' {local function main(event) " + body + " end}");
    Ask("CREATE LUA TRIGGER r ON (TABLE t FOR INSERT)");
    Ask("INSERT INTO t VALUES (1)");
    EXPECT_TRUE(Eventually([&] { return manager_->triggers().ProgressOf("r")->failures > 0; }));
    EXPECT_THAT(manager_->triggers().ProgressOf("r")->error, HasSubstr(error));
    EXPECT_EQ(Ask("DROP LUA TRIGGER r"), "");
  }
}

TEST_P(TriggerTest, ColumnsProjectAndFiltersFilter) {
  Ask("CREATE TABLE t(i int, j int, k int)");
  Ask("CREATE TABLE seen(type cstring(4), new vutf8, old vutf8)");
  Ask("CREATE PROCEDURE see {local function main(e)\n"
      "local function text(t) if t == nil then return nil end return db:table_to_json(t) end\n"
      "return db:table('seen'):insert({type = e.type, new = text(e.new), old = text(e.old)}) end}");
  EXPECT_EQ(Ask("CREATE LUA TRIGGER see ON (TABLE t FOR INSERT OF i, j AND UPDATE OF j, k AND "
                "DELETE OF k WHEN (type = 'del' OR new.i < 10) CHANGED (k))"),
            "");
  Ask("INSERT INTO t VALUES (1, 2, 3), (11, 12, 13)");
  Ask("UPDATE t SET j = 5 WHERE i = 1");
  Ask("UPDATE t SET k = 6");
  Ask("DELETE FROM t WHERE i = 11");
  EXPECT_TRUE(Becomes("SELECT * FROM seen",
                      R"({"type":"add","new":"{\"i\":1,\"j\":2}","old":null}
{"type":"upd","new":"{\"j\":5,\"k\":6}","old":"{\"j\":5,\"k\":3}"}
{"type":"del","new":null,"old":"{\"k\":6}"}
)"));
}

TEST_P(TriggerTest, WrongStatements) {
  Ask("CREATE TABLE t(i int, j int)");
  Ask("CREATE PROCEDURE p {local function main(e) return 0 end}");
  EXPECT_THAT(Ask("CREATE LUA TRIGGER p ON (TABLE t FOR INSERT OF x)"),
              HasSubstr("trigger.unknown_column: table 't' has no column 'x'"));
  EXPECT_THAT(Ask("CREATE LUA TRIGGER p ON (TABLE nope FOR INSERT)"), HasSubstr("nope"));
  EXPECT_THAT(Ask("CREATE LUA TRIGGER q ON (TABLE t FOR INSERT)"),
              HasSubstr("procedure.not_found"));
  EXPECT_THAT(Ask("CREATE LUA TRIGGER p ON (TABLE t FOR INSERT), (TABLE t FOR DELETE)"),
              HasSubstr("trigger.twice"));
  EXPECT_THAT(Ask("CREATE LUA TRIGGER p ON (TABLE t FOR INSERT AND INSERT)"),
              HasSubstr("named already"));
  EXPECT_THAT(Ask("CREATE LUA TRIGGER p ON (TABLE t FOR INSERT WHEN (nosuch(new.i)))"),
              HasSubstr("nosuch"));
  EXPECT_THAT(Ask("CREATE LUA TRIGGER p ON (TABLE t FOR UPDATE WHEN (new.i > 1 AND old.x < 3))"),
              HasSubstr("trigger.unknown_column: table 't' has no column 'x'"));
  EXPECT_THAT(Ask("CREATE LUA TRIGGER p ON (TABLE t FOR INSERT WHEN (UPPER(new.I) = 'X'))"),
              HasSubstr("WHEN: the column of table 't' is 'i', not 'I'"));
  EXPECT_EQ(Ask("CREATE LUA TRIGGER p ON (TABLE t FOR INSERT)"), "");
  EXPECT_THAT(Ask("CREATE LUA TRIGGER p ON (TABLE t FOR INSERT)"), HasSubstr("trigger.exists"));
  EXPECT_EQ(Ask("CREATE LUA TRIGGER IF NOT EXISTS p ON (TABLE t FOR INSERT)"), "");
  EXPECT_THAT(Ask("DROP PROCEDURE p"), HasSubstr("procedure.in_use"));
  EXPECT_THAT(Ask("DROP TABLE t"), HasSubstr("CASCADE"));
  EXPECT_THAT(Ask("RENAME TABLE t TO u"), HasSubstr("CASCADE"));
  EXPECT_EQ(Ask("RENAME TABLE t TO u CASCADE"), "");
  EXPECT_EQ(Ask("DROP TABLE u CASCADE"), "");
  EXPECT_FALSE(manager_->triggers().Has("p"));
}

TEST_P(TriggerTest, DropOfABusyTriggerReturnsAtOnce) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE PROCEDURE busy {local function main(e) db:sleep(600) return 0 end}");
  Ask("CREATE LUA TRIGGER busy ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1)");
  EXPECT_TRUE(Eventually([&] {
    return manager_->triggers().ProgressOf("busy")->state == TriggerProgress::State::kRunning;
  }));
  EXPECT_EQ(Ask("DROP LUA TRIGGER busy"), "");
  EXPECT_EQ(Ask("DROP TABLE t"), "");
}

TEST_P(TriggerTest, DocumentsToo) {
  Ask("CREATE TABLE seen(k vutf8, n int)");
  Ask("CREATE PROCEDURE see {local function main(e)\n"
      "return db:table('seen'):insert({k = e.key, n = e.new.n}) end}");
  EXPECT_EQ(Ask("CREATE LUA TRIGGER see ON (TABLE b FOR INSERT)"), "");
  Ask("INSERT INTO b (KEY, VALUE) VALUES ('one', {'n': 1})");
  EXPECT_TRUE(Becomes("SELECT * FROM seen", "{\"k\":\"one\",\"n\":1}\n"));
}

INSTANTIATE_TEST_SUITE_P(Shards, TriggerTest, testing::Values(1, 4));

}  // namespace
}  // namespace sluice::procedure
