// Runs that start by themselves: by changes, by time, and because code asks for them.
#include <string>

#include "flow_engine/test_host.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::HasSubstr;

constexpr std::string_view kTasks = R"(
first.task: note
tasks:
  - name: note
    process: note.demo
    description: notes what it was started with
    input: ['input.body -> body']
    output: ['result -> output.body']
    execution: end
)";
// Appends to a list what it is started with.
constexpr std::string_view kNote = R"(function handleEvent(headers, input) {
  const seen = notes.seen || [];
  seen.push(input.body);
  notes.seen = seen;
  return input.body;
}
)";

class StartsTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    for (const char* bucket : {"app", "orders"}) {
      ASSERT_TRUE(database_->admin().CreateBucket(bucket).ok());
    }
  }
  std::string Load(const std::string& head,
                   std::map<std::string, std::string, std::less<>> more = {}) {
    more["flows.yaml"] = "flows: ['noted.yml']";
    more["flows/noted.yml"] =
        "flow: {id: noted, description: d, ttl: 1h, " + head + "}\n" + std::string(kTasks);
    more["tasks/note.demo.js"] = kNote;
    if (!more.contains("sluice.yaml")) {
      more["sluice.yaml"] = "tasks: {note.demo: {keyspaces: {notes: app}}}";
    }
    return Apply(std::move(more));
  }
  void Put(const std::string& key, const std::string& body) {
    const auto keyspace = database_->Resolve(*db::KeyspaceName::Parse("orders"));
    db::Commit commit;
    commit.shard = database_->ShardOf(*keyspace, key);
    db::Document document;
    document.body = body;
    commit.writes.push_back(db::PutWrite(*keyspace, key, document));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  std::string Seen() {
    const auto keyspace = database_->Resolve(*db::KeyspaceName::Parse("app"));
    const auto document = database_->Get(*keyspace, "seen");
    return document && *document ? (*document)->body : "";
  }
  std::vector<RunHead> Runs() { return host_->runs().List({})->runs; }
  size_t Completed() {
    return host_->runs()
        .List({.flow = "", .phase = RunPhase::kCompleted, .before = ""})
        ->runs.size();
  }
};

TEST_F(StartsTest, AChangeStartsOneRun) {
  Put("before", R"({"status":"new"})");
  ASSERT_EQ(Load("durable: true, on: orders, filter: 'after.status = \"new\"'"), "");
  Put("a", R"({"status":"new"})");
  Put("b", R"({"status":"old"})");
  WaitUntil([&] { return Completed() == 1; });
  EXPECT_THAT(Seen(), HasSubstr(R"("operation":"insert","keyspace":"orders","key":"a")"));
  EXPECT_EQ(Runs()[0].origin, "change");
  // Also what happened while nobody was there.
  host_.reset();
  Put("a", R"({"status":"new","n":2})");
  Begin();
  WaitUntil([&] { return Completed() == 2; });
  EXPECT_THAT(Seen(), HasSubstr(R"("before":{"status":"new"},"after":{"status":"new","n":2})"));
  // A flow that is gone follows nothing.
  ASSERT_EQ(Apply({}), "");
  EXPECT_EQ(database_->catalog()->FindFollower("flow:noted"), nullptr);
}

TEST_F(StartsTest, AScheduleStartsRuns) {
  host_clock_ = &clock_;
  host_.reset();
  Begin();
  ASSERT_EQ(Load("durable: true, every: 1s"), "");
  WaitUntil([&] {
    clock_.AdvanceMs(100);
    return Completed() >= 2;
  });
  const std::vector<RunHead> runs = Runs();
  EXPECT_EQ(runs[0].origin, "schedule");
  EXPECT_THAT(Seen(), HasSubstr(R"("schedule":"every 1s","due_ms":)"));
  // No due time twice.
  std::set<int64_t> due;
  const auto list = json::Parse(Seen());
  for (const Value& each : list->items()) due.insert(each["due_ms"].AsInt());
  EXPECT_EQ(due.size(), list->size());
}

TEST_F(StartsTest, CodeStartsFlows) {
  const std::string options =
      "tasks: {note.demo: {keyspaces: {notes: app}}, ask.demo: {keyspaces: {notes: app}}}";
  ASSERT_EQ(
      Load("durable: true",
           {{"tasks/ask.demo.js",
             "function handleEvent(headers, input) { const run = startFlow(input.flow, { body: { "
             "n: 7 } }); "
             "if (input.fail) throw new AppException(400, 'no'); notes.asked = run; return run; }"},
            {"tasks/ask.lua.lua",
             "local function main(headers, input)\n  return db:start_flow('noted', {body = {n = "
             "8}})\nend"},
            {"sluice.yaml", options}}),
      "");
  const auto call = [&](const std::string& route, Value body) {
    std::promise<Reply> done;
    host_->engine().Call(host_->app(), route, Value::EmptyObject(), std::move(body), 30'000,
                         [&](Reply reply) { done.set_value(std::move(reply)); },
                         {.trace = {.id = "4bf92f3577b34da6a3ce929d0e0e4736"}});
    return done.get_future().get();
  };
  // What is not committed starts nothing.
  EXPECT_EQ(call("ask.demo", Value::Object({{"flow", "noted"}, {"fail", true}})).status, 400);
  const Reply asked = call("ask.demo", Value::Object({{"flow", "noted"}}));
  ASSERT_EQ(asked.status, 200);
  WaitUntil([&] { return Completed() == 1; });
  EXPECT_EQ(Runs()[0].id, asked.body.AsString());
  EXPECT_EQ(Runs()[0].origin, "call");
  EXPECT_EQ(Runs()[0].trace, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(Seen(), R"([{"n":7}])");
  const Reply lua = call("ask.lua", {});
  ASSERT_EQ(lua.status, 200) << json::ToText(lua.body);
  WaitUntil([&] { return Completed() == 2; });
  EXPECT_EQ(Runs()[0].trace, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(Seen(), R"([{"n":7},{"n":8}])");
  // One that there is none fails where it can be seen.
  call("ask.demo", Value::Object({{"flow", "nothing"}}));
  WaitUntil([&] { return Runs().size() == 3; });
  const auto failed = host_->runs().List({.flow = "", .phase = RunPhase::kFailed, .before = ""});
  ASSERT_EQ(failed->runs.size(), 1u);
  EXPECT_EQ(failed->runs[0].message, "Flow nothing not found");
}

TEST_F(StartsTest, WhatCantStartIsTold) {
  EXPECT_THAT(Load("on: orders"), HasSubstr("must be durable"));
  EXPECT_THAT(Load("durable: true, on: nothing"), HasSubstr("flow.bad_start"));
  EXPECT_THAT(Load("durable: true, on: orders, filter: 'after.'"), HasSubstr("flow.bad_start"));
  EXPECT_THAT(Load("durable: true, filter: 'true'"), HasSubstr("give flow.on"));
  EXPECT_THAT(Load("durable: true, every: 1ms"), HasSubstr("between 1s and 365d"));
  EXPECT_THAT(Load("durable: true, cron: '* * *'"), HasSubstr("flow.bad_cron"));
  EXPECT_THAT(Load("durable: true, cron: '* * * * *', every: 1m"), HasSubstr("not both"));
}

}  // namespace
}  // namespace sluice::flow_engine
