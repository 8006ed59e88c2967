// What operators do with triggers: skip, keep, try again.
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/print.h"
#include "procedure/test_procedures.h"

namespace sluice::procedure {
namespace {

using testing::HasSubstr;

// Fails for rows with i < 0 as long as the table `mended` is empty.
constexpr std::string_view kPicky = R"(CREATE PROCEDURE picky {
local function main(event)
  local n = db:exec('SELECT count(*) AS n FROM mended'):fetch().n
  if event.new.i < 0 and n == 0 then error('negative: ' .. event.new.i) end
  return db:table('seen'):insert({i = event.new.i, moment = event.new.moment, s = db:get_event_sequence(event)})
end
})";

// The parameter is the number of shards.
class TriggerOperationTest : public ProceduresTest, public testing::WithParamInterface<uint16_t> {
 protected:
  TriggerOperationTest() { options_.shards = GetParam(); }

  void SetUp() override {
    ProceduresTest::SetUp();
    Ask("CREATE TABLE t(i int, moment datetime)");
    Ask("CREATE TABLE seen(i int, moment datetime, s int)");
    Ask("CREATE TABLE mended(i int)");
    EXPECT_THAT(Ask(kPicky), HasSubstr("version"));
    EXPECT_EQ(Ask("CREATE LUA TRIGGER picky ON (TABLE t FOR INSERT)"), "");
  }
  Triggers& triggers() { return manager_->triggers(); }
  TriggerStatus Now() {
    auto status = triggers().StatusOf("picky");
    EXPECT_TRUE(status) << status.error().ToString();
    return std::move(*status);
  }
  // The id of the event that fails.
  std::string Failing() {
    EXPECT_TRUE(Eventually([&] { return Now().progress.attempts() > 0; }));
    return Now().progress.first_failing()->event_id;
  }
  TriggerRunner& runner() { return **triggers().RunnerOf("picky"); }
  std::vector<failure::FailureId> DeadLetters() {
    std::vector<failure::FailureId> ids;
    EXPECT_TRUE((*triggers().DeadLettersOf("picky"))
                    ->Visit({},
                            [&](const failure::FailureList::Item& item) {
                              ids.push_back(item.failure.id);
                              return true;
                            })
                    .ok());
    return ids;
  }
};

TEST_P(TriggerOperationTest, SkipPassesTheHeadAndNothingElse) {
  Ask("INSERT INTO t(i) VALUES (1), (-2), (3)");
  const std::string id = Failing();
  TriggerStatus status = Now();
  ASSERT_TRUE(status.head);
  EXPECT_EQ(status.head->id(), id);
  EXPECT_EQ(status.depth, 2u);
  EXPECT_THAT(status.progress.error, HasSubstr("negative: -2"));

  EXPECT_EQ(runner().Skip(std::string(12, 'x')).id(), "trigger.not_head");
  EXPECT_TRUE(runner().Skip(id).ok());
  EXPECT_TRUE(Becomes("SELECT i, s FROM seen", "{\"i\":1,\"s\":1}\n{\"i\":3,\"s\":3}\n"));
  EXPECT_EQ(runner().Skip(id).id(), "trigger.not_head");
  EXPECT_TRUE(DeadLetters().empty());
}

TEST_P(TriggerOperationTest, ADeadLetterIsKeptAndTriedAgain) {
  Ask("INSERT INTO t VALUES (-2, '2019-12-19T13:14:22.330 UTC'), (3, NULL)");
  EXPECT_TRUE(runner().MoveToDeadLetters(Failing()).ok());
  EXPECT_TRUE(Becomes("SELECT RAW i FROM seen", "3\n"));
  ASSERT_EQ(DeadLetters().size(), 1u);
  Restart();
  ASSERT_EQ(DeadLetters().size(), 1u);
  const failure::FailureId id = DeadLetters()[0];
  EXPECT_EQ(Now().dead_letters, 1u);
  EXPECT_EQ(Now().depth, 0u);
  const auto item = (*triggers().DeadLettersOf("picky"))->Find(id);
  ASSERT_TRUE(item);
  EXPECT_THAT(item->failure.problem.message, HasSubstr("negative: -2"));
  const auto shown = triggers().ShowDeadLetter("picky", id);
  ASSERT_TRUE(shown);
  EXPECT_EQ(json::ToText((*shown)["new"]), R"({"i":-2,"moment":"2019-12-19T13:14:22.330Z"})");

  EXPECT_THAT(runner().RetryDeadLetter(id).ToString(), HasSubstr("negative: -2"));
  EXPECT_EQ((*triggers().DeadLettersOf("picky"))->Find(id)->failure.attempts,
            item->failure.attempts + 1);
  Ask("INSERT INTO mended VALUES (1)");
  EXPECT_TRUE(runner().RetryDeadLetter(id).ok());
  EXPECT_EQ(Ask("SELECT i, moment, s FROM seen"),
            "{\"i\":3,\"moment\":null,\"s\":2}\n"
            "{\"i\":-2,\"moment\":\"2019-12-19T13:14:22.330Z\",\"s\":1}\n");
  EXPECT_TRUE(DeadLetters().empty());
  EXPECT_EQ(runner().RetryDeadLetter(id).id(), "failure.not_found");
}

TEST_P(TriggerOperationTest, WhileItIsHeld) {
  ASSERT_TRUE(triggers().Hold("picky", true).ok());
  Ask("INSERT INTO t(i) VALUES (1), (2)");
  EXPECT_TRUE(Eventually([&] { return Now().progress.state == TriggerProgress::State::kHeld; }));
  EXPECT_EQ(Now().depth, 2u);
  EXPECT_TRUE(runner().MoveToDeadLetters(Now().head->id()).ok());
  EXPECT_EQ(Now().depth, 1u);
  EXPECT_EQ(Ask("SELECT RAW i FROM seen"), "");
  EXPECT_TRUE(runner().RetryDeadLetter(DeadLetters().at(0)).ok());
  EXPECT_EQ(Ask("SELECT RAW i FROM seen"), "1\n");
  ASSERT_TRUE(triggers().Hold("picky", false).ok());
  EXPECT_TRUE(Becomes("SELECT RAW i FROM seen", "1\n2\n"));
}

// The statement alone would take years. What the procedure makes of its end has no effect.
TEST_P(TriggerOperationTest, AStopEndsTheStatementOfARun) {
  Ask("CREATE PROCEDURE picky {local function main(e)\n"
      "db:exec('SELECT COUNT(*) AS n FROM ARRAY_RANGE(0, 10000) AS a UNNEST ARRAY_RANGE(0, 10000) "
      "AS b UNNEST ARRAY_RANGE(0, 10000) AS c UNNEST ARRAY_RANGE(0, 10000) AS d')\n"
      "return db:table('seen'):insert({i = e.new.i}) end}");
  Ask("PUT DEFAULT PROCEDURE picky 2");
  Ask("INSERT INTO t(i) VALUES (1)");
  EXPECT_TRUE(Eventually([&] { return Now().progress.state == TriggerProgress::State::kRunning; }));
  Restart();
  EXPECT_EQ(Ask("SELECT RAW i FROM seen"), "");
  EXPECT_EQ(Now().depth, 1u);
}

TEST_P(TriggerOperationTest, SkipEndsTheRunOfThatEvent) {
  Ask("CREATE PROCEDURE picky {local function main(e)\n"
      "if e.new.i == 1 then db:sleep(600) end\n"
      "return db:table('seen'):insert({i = e.new.i}) end}");
  Ask("PUT DEFAULT PROCEDURE picky 2");
  Ask("INSERT INTO t(i) VALUES (0), (1), (2)");
  EXPECT_TRUE(Becomes("SELECT RAW i FROM seen", "0\n"));
  EXPECT_TRUE(runner().Skip(Now().head->id()).ok());
  EXPECT_TRUE(Becomes("SELECT RAW i FROM seen", "0\n2\n"));
  EXPECT_EQ(Now().progress.failures, 0u);
}

TEST_P(TriggerOperationTest, DropTakesItsDeadLetters) {
  Ask("INSERT INTO t(i) VALUES (-1)");
  EXPECT_TRUE(runner().MoveToDeadLetters(Failing()).ok());
  EXPECT_EQ(failure::Owners(*database_)->size(), 1u);
  EXPECT_EQ(Ask("DROP LUA TRIGGER picky"), "");
  EXPECT_TRUE(failure::Owners(*database_)->empty());
}

TEST_P(TriggerOperationTest, OfADroppedTable) {
  Ask("CREATE TABLE u(i int, moment datetime)");
  Ask("DROP LUA TRIGGER picky");
  EXPECT_EQ(Ask("CREATE LUA TRIGGER picky ON (TABLE t FOR INSERT), (TABLE u FOR INSERT)"), "");
  Ask("INSERT INTO u(i) VALUES (-1)");
  EXPECT_TRUE(runner().MoveToDeadLetters(Failing()).ok());
  const failure::FailureId id = DeadLetters().at(0);
  EXPECT_EQ(Ask("DROP TABLE u CASCADE"), "");
  EXPECT_EQ(runner().RetryDeadLetter(id).id(), "trigger.source_gone");
  EXPECT_EQ(json::ToText((*triggers().ShowDeadLetter("picky", id))["name"]), "\"u\"");
  EXPECT_TRUE((*triggers().DeadLettersOf("picky"))->Drop(id).ok());
}

INSTANTIATE_TEST_SUITE_P(Shards, TriggerOperationTest, testing::Values(1, 4));

}  // namespace
}  // namespace sluice::procedure
