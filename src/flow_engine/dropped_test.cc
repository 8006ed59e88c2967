// Apps whose keyspaces were dropped, when the server starts again: what does not need them runs.
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flow_engine/test_host.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::AllOf;
using testing::HasSubstr;

class DroppedTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    for (const char* const bucket : {"orders", "gone"}) {
      ASSERT_TRUE(database_->admin().CreateBucket(bucket).ok());
    }
    Sql("CREATE TABLE rates (rate int)");
  }
  void Sql(const std::string& statement) {
    auto run = engine_->Query(statement, {}, {});
    ASSERT_TRUE(run.has_value()) << run.error().ToString();
    while ((*run)->Next()) {
    }
    ASSERT_TRUE((*run)->status().ok()) << (*run)->status().ToString();
  }
  // Starts again after `drop`, and returns the log of that.
  std::string StartAgain(const std::function<void()>& drop) {
    host_.reset();
    drop();
    testing::internal::CaptureStderr();
    Begin();
    return testing::internal::GetCapturedStderr();
  }
  std::string Call(const std::string& route, Value headers = Value::EmptyObject()) {
    std::promise<Reply> done;
    host_->engine().Call(host_->app(), route, std::move(headers), Value::EmptyObject(), 10'000,
                         [&](Reply reply) { done.set_value(std::move(reply)); });
    const Reply reply = done.get_future().get();
    return fmt::format("{} {}", reply.status, json::ToText(reply.body));
  }
  void Put(const std::string& bucket, const std::string& key) {
    const auto keyspace = database_->Resolve({.bucket = bucket});
    db::Commit commit;
    commit.shard = database_->ShardOf(*keyspace, key);
    commit.writes.push_back(db::PutWrite(*keyspace, key, db::Document{.body = "{}"}));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  static std::string Flow(const std::string& id, const std::string& start) {
    return fmt::format(R"(flow: {{id: {}, description: d, ttl: 1h, durable: true{}}}
first.task: no.op
tasks:
  - {{input: ['input.body -> *'], process: no.op, output: ['result -> output.body'], description: d, execution: end}}
)",
                       id, start);
  }
  size_t Completed(const std::string& flow) {
    return host_->runs()
        .List({.flow = flow, .phase = RunPhase::kCompleted, .before = ""})
        ->runs.size();
  }
};

TEST_F(DroppedTest, OnlyStatementsThatNeedItFail) {
  ASSERT_EQ(
      Apply({{"tasks/load.rate.sql", "SELECT RAW r.rate\nFROM rates r"},
             {"tasks/load.one.sql", "SELECT RAW 1"},
             {"flows.yaml", "flows: ['plain.yml']"},
             {"flows/plain.yml", Flow("plain", "")},
             {"rest.yaml",
              "rest: [{service: load.rate, methods: [GET], url: /rate, authentication: none}]"}}),
      "");
  EXPECT_THAT(StartAgain([&] { Sql("DROP TABLE rates"); }),
              AllOf(HasSubstr("warn"),
                    HasSubstr("tasks/load.rate.sql:2:6: warning: keyspace "
                              "'rates"),
                    HasSubstr("query.keyspace_not_found")));
  EXPECT_THAT(Call("load.rate"), HasSubstr("404 \"keyspace 'rates"));
  EXPECT_EQ(Call("load.one"), "200 [1]");
  EXPECT_THAT(Run("plain", Value::Object({{"body", Value::Object({{"n", 1}})}})),
              HasSubstr("200 {\"n\":1}"));
  EXPECT_EQ(host_->app()->rest.endpoints.size(), 1u);
  Sql("CREATE TABLE rates (rate int)");
  Sql("INSERT INTO rates (rate) VALUES (7)");
  EXPECT_EQ(Call("load.rate"), "200 [7]");
}

TEST_F(DroppedTest, AConfinedStatementStaysConfined) {
  ASSERT_EQ(
      Apply({{"sluice.yaml", "tasks: {load.rate: {keyspaces: {rates: _tables._default.rates}}}"},
             {"tasks/load.rate.sql", "SELECT RAW r.rate FROM rates r"}}),
      "");
  StartAgain([&] { Sql("DROP TABLE rates"); });
  ASSERT_TRUE(database_->admin().CreateBucket("rates").ok());
  EXPECT_THAT(Call("load.rate"), HasSubstr("may not read keyspace 'rates'"));
}

TEST_F(DroppedTest, OnlyFunctionsThatNeedItFail) {
  ASSERT_EQ(Apply({{"sluice.yaml", R"(tasks:
  put.it: {keyspaces: {docs: gone}}
  keep.it: {state: gone}
)"},
                   {"tasks/put.it.js", "function handleEvent() { docs.k = {n: 1}; return 'put'; }"},
                   {"tasks/query.it.js", R"(function handleEvent() {
  const rows = [];
  for (const row of SELECT g.n FROM gone g) rows.push(row);
  return rows;
})"},
                   {"tasks/query.lua.lua", R"(local function main()
  local stmt, rc = db:exec('SELECT g.n FROM gone g')
  if rc ~= 0 then error(db:error()) end
  return {}
end)"}}),
            "");
  const Value get = Value::Object({{"type", "get"}, {"key", "k"}});
  EXPECT_THAT(StartAgain([&] { ASSERT_TRUE(database_->admin().DropBucket("gone").ok()); }),
              AllOf(HasSubstr("sluice.yaml:2:3: warning: "),
                    HasSubstr("sluice.yaml:3:3: warning: "), HasSubstr("route.no_keyspace")));
  for (const char* const route : {"put.it", "query.it", "query.lua"}) {
    EXPECT_THAT(Call(route), HasSubstr("gone")) << route;
  }
  EXPECT_THAT(Call("keep.it", get), HasSubstr("gone"));
  ASSERT_TRUE(database_->admin().CreateBucket("gone").ok());
  EXPECT_EQ(Call("put.it"), "200 \"put\"");
  EXPECT_EQ(Call("query.it"), R"(200 [{"n":1}])");
  EXPECT_EQ(Call("query.lua"), "200 {}");
  EXPECT_EQ(Call("keep.it", get), R"(200 {"n":1})");
}

TEST_F(DroppedTest, OtherFlowsStart) {
  ASSERT_EQ(Apply({{"flows.yaml", "flows: ['a.yml', 'b.yml', 'c.yml']"},
                   {"flows/a.yml", Flow("a", ", on: gone")},
                   {"flows/b.yml", Flow("b",
                                        ", on: orders, filter: "
                                        "'EXISTS (SELECT RAW 1 FROM rates r)'")},
                   {"flows/c.yml", Flow("c", ", on: orders")}}),
            "");
  // One that is dropped while flows follow it, too.
  ASSERT_TRUE(database_->admin().DropBucket("gone").ok());
  Put("orders", "1");
  WaitUntil([&] { return Completed("c") == 1; });
  const auto place = [&](const char* flow) {
    return database_->followers().ReadCursor({.follower = std::string("flow:") + flow})->position;
  };
  WaitUntil([&] { return place("b") >= place("c"); });
  EXPECT_EQ(Completed("b"), 0u);
  EXPECT_THAT(StartAgain([&] { Sql("DROP TABLE rates"); }),
              AllOf(HasSubstr("flows/a.yml:1:"), HasSubstr("flows/b.yml:1:"),
                    HasSubstr("flow.bad_start"), HasSubstr("gone"), HasSubstr("rates")));
  Put("orders", "2");
  WaitUntil([&] { return Completed("c") == 2; });
  // A filter that can't be decided loses no change.
  WaitUntil([&] { return Completed("b") == 1; });
  Sql("CREATE TABLE rates (rate int)");
  Put("orders", "3");
  WaitUntil([&] { return Completed("c") == 3; });
  EXPECT_EQ(Completed("b"), 1u);
}

TEST_F(DroppedTest, RunsOfAnEarlierAppGoOn) {
  const std::string late = R"(flow: {id: late, description: d, ttl: 1h, durable: true}
first.task: wait
tasks:
  - {name: wait, process: no.op, input: [], output: [], delay: 1500, description: d, execution: sequential, next: [done]}
  - {name: done, process: echo, input: ['text(x) -> x'], output: ['result -> output.body'], description: d, execution: end}
)";
  ASSERT_EQ(Apply({{"flows.yaml", "flows: ['late.yml']"},
                   {"flows/late.yml", late},
                   {"tasks/load.rate.sql", "SELECT RAW r.rate FROM rates r"}}),
            "");
  flow::Start start;
  start.flow = "late";
  host_->engine().Start(host_->app(), std::move(start), [](const Reply&) {});
  WaitUntil([&] { return host_->runs().List({})->runs.size() == 1; });
  ASSERT_EQ(Apply({}), "");
  StartAgain([&] { Sql("DROP TABLE rates"); });
  WaitUntil([&] { return Completed("late") == 1; });
}

}  // namespace
}  // namespace sluice::flow_engine
