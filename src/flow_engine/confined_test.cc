// Tasks with keyspaces: which statements they may run. The same ones in all languages.
#include <future>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flow_engine/test_host.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::HasSubstr;

class ConfinedTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    for (const char* const bucket : {"prices", "secret"}) {
      ASSERT_TRUE(database_->admin().CreateBucket(bucket).ok());
    }
    for (const char* const statement :
         {"CREATE TABLE rates (rate int)", "PREPARE stolen FROM SELECT RAW s.x FROM secret s"}) {
      auto run = engine_->Query(statement, {}, {});
      ASSERT_TRUE(run.has_value()) << run.error().ToString();
      while ((*run)->Next()) {
      }
    }
  }

  static constexpr const char* kGiven =
      "{users: b, prices: {keyspace: prices, access: r}, rates: _tables._default.rates}";
  static std::string Options(const std::string& keyspaces) {
    return fmt::format("tasks: {{run.js: {{keyspaces: {0}}}, run.lua: {{keyspaces: {0}}}}}",
                       keyspaces);
  }
  void Load(const std::string& options) {
    ASSERT_EQ(Apply({{"sluice.yaml", options},
                     {"tasks/run.js.js", R"(function handleEvent(headers, input) {
  const found = N1QL(input.sql);
  const rows = [];
  for (const row of found) rows.push(row);
  found.close();
  return rows;
})"},
                     {"tasks/run.lua.lua", R"(local function main(headers, input)
  local stmt, rc = db:exec(input.sql)
  if rc ~= 0 then error(db:error()) end
  local row = stmt:fetch()
  while row do row = stmt:fetch() end
  return {}
end)"}}),
              "");
  }
  std::string Call(const std::string& route, const std::string& sql) {
    std::promise<Reply> done;
    host_->engine().Call(host_->app(), route, Value::EmptyObject(), Value::Object({{"sql", sql}}),
                         10'000, [&](Reply reply) { done.set_value(std::move(reply)); });
    const Reply reply = done.get_future().get();
    return fmt::format("{} {}", reply.status, json::ToText(reply.body));
  }
  // That both languages are told the same.
  void ExpectRefused(const std::string& sql, const std::string& why) {
    for (const char* const route : {"run.js", "run.lua"}) {
      EXPECT_THAT(Call(route, sql), HasSubstr(fmt::format("route '{}' may not {}", route, why)))
          << sql;
    }
  }
};

TEST_F(ConfinedTest, StatementsKeepToTheKeyspacesOfTheirTask) {
  Load(Options(kGiven));
  for (const char* const sql :
       {"UPSERT INTO b (KEY, VALUE) VALUES ('k', 1)", "SELECT p.x FROM prices p, b u",
        "INSERT INTO rates (rate) VALUES (3)", "SELECT 1 AS one"}) {
    EXPECT_THAT(Call("run.js", sql), HasSubstr("200 ")) << sql;
    EXPECT_THAT(Call("run.lua", sql), HasSubstr("200 ")) << sql;
  }
  const std::string read = "read keyspace 'secret': its keyspaces in sluice.yaml do not name it";
  ExpectRefused("SELECT s.x FROM secret s", read);
  ExpectRefused("SELECT (SELECT s.x FROM secret s) AS x FROM b", read);
  ExpectRefused("INSERT INTO b (KEY k, VALUE s) SELECT META(s).id AS k, s FROM secret s", read);
  ExpectRefused("EXECUTE stolen", read);
  ExpectRefused("UPSERT INTO secret (KEY, VALUE) VALUES ('k', 1)",
                "write to keyspace 'secret': its keyspaces in sluice.yaml do not name it");
  ExpectRefused("UPDATE prices SET x = 1",
                "write to keyspace 'prices': its keyspaces in sluice.yaml give it access r");
  ExpectRefused("CREATE INDEX i ON b(x)", "change the catalog");
}

TEST_F(ConfinedTest, WithoutKeyspacesStatementsReachAll) {
  Load("");
  EXPECT_THAT(Call("run.js", "UPSERT INTO secret (KEY, VALUE) VALUES ('k', 1)"), HasSubstr("200 "));
  EXPECT_THAT(Call("run.lua", "SELECT s.x FROM secret s"), HasSubstr("200 "));
}

TEST_F(ConfinedTest, StatementsOfFilesAreCheckedWhenTheAppIsLoaded) {
  const auto load = [&](const std::string& sql) {
    return Apply({{"sluice.yaml", fmt::format("tasks: {{get.it: {{keyspaces: {}}}}}", kGiven)},
                  {"tasks/get.it.sql", sql}});
  };
  EXPECT_THAT(load("SELECT s.x FROM secret s"),
              HasSubstr("tasks/get.it.sql:1:1: error: route 'get.it' may not read keyspace "
                        "'secret': its keyspaces in sluice.yaml do not name it [route.confined]"));
  EXPECT_THAT(load("DELETE FROM prices"), HasSubstr("may not write to keyspace 'prices'"));
  EXPECT_EQ(load("SELECT RAW p.x FROM prices p"), "");
  // What it runs is known when it runs.
  EXPECT_EQ(load("EXECUTE stolen"), "");
  EXPECT_THAT(Call("get.it", ""), HasSubstr("route 'get.it' may not read keyspace 'secret'"));
}

TEST_F(ConfinedTest, VariablesDoNotWriteToTables) {
  ASSERT_EQ(Apply({{"sluice.yaml", fmt::format("tasks: {{put.it: {{keyspaces: {}}}}}", kGiven)},
                   {"tasks/put.it.js", "function handleEvent() { rates['1'] = {rate: 2}; }"}}),
            "");
  EXPECT_THAT(Call("put.it", ""), HasSubstr("is forbidden"));
}

}  // namespace
}  // namespace sluice::flow_engine
