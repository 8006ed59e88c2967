// Apps as a host runs them: flows with functions in JavaScript and SQL++, endpoints.
#include <atomic>
#include <future>
#include <memory>
#include <semaphore>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flow_engine/test_host.h"
#include "function/curl/test_server.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::HasSubstr;

constexpr std::string_view kGreetings = R"(flow:
  id: 'greetings'
  description: 'A simple flow'
  ttl: 10s

first.task: 'greeting.demo'

tasks:
  - input:
      - 'input.path_parameter.user -> user'
    process: 'greeting.demo'
    output:
      - 'result -> output.body'
    description: 'Hello World'
    execution: end
)";
constexpr std::string_view kDemo = R"(function handleEvent(headers, input, instance) {
  if (input.user) return { user: input.user, message: 'Welcome', instance };
  throw new IllegalArgumentException("Missing path parameter 'user'");
}
)";

using RouteTest = HostTest;

TEST_F(RouteTest, TheSeedsGreeting) {
  EXPECT_EQ(Apply({{"flows.yaml", "flows: ['greetings.yml']"},
                   {"flows/greetings.yml", std::string(kGreetings)},
                   {"tasks/greeting.demo.js", std::string(kDemo)},
                   {"sluice.yaml", "tasks: {greeting.demo: {instances: '${NOT_SET:10}'}}"}}),
            "");
  EXPECT_EQ(Run("greetings", User("my_name")),
            R"(200 {"user":"my_name","message":"Welcome","instance":1})");
  EXPECT_THAT(Run("greetings", Value::EmptyObject()), HasSubstr("Missing path parameter 'user'"));
  EXPECT_EQ(host_->app()->FindRoute("greeting.demo")->instances(), 10);
  // It is there again after a restart.
  host_.reset();
  Begin();
  EXPECT_THAT(Run("greetings", User("x")), HasSubstr("Welcome"));
}

TEST_F(RouteTest, WhatIsWrongChangesNothing) {
  ASSERT_EQ(Apply({{"flows.yaml", "flows: ['greetings.yml']"},
                   {"flows/greetings.yml", std::string(kGreetings)},
                   {"tasks/greeting.demo.js", std::string(kDemo)}}),
            "");
  const std::string told = Apply({{"flows.yaml", "flows: ['greetings.yml']"},
                                  {"flows/greetings.yml", std::string(kGreetings)},
                                  {"tasks/other.demo.js", "let x = 1;"},
                                  {"rest.yaml", "rest:\n  - service: nope\n    url: /a\n"}});
  EXPECT_THAT(told, HasSubstr("tasks/other.demo.js:1:1: error:"));
  EXPECT_THAT(told, HasSubstr("greeting.demo"));
  EXPECT_THAT(told, HasSubstr("rest.yaml:2:5: error: 'methods' is missing"));
  EXPECT_THAT(told, HasSubstr("there is no route 'nope'"));
  EXPECT_THAT(Run("greetings", User("x")), HasSubstr("Welcome"));
}

TEST_F(RouteTest, TasksWriteInOneCommitAndQuery) {
  EXPECT_EQ(
      Apply({{"flows.yaml", "flows: ['save.yml']"},
             {"flows/save.yml", R"(flow:
  id: save
  description: writes, then reads
  ttl: 10s
first.task: save.user
tasks:
  - name: save.user
    input: ['input.body -> *']
    process: save.user
    output: ['result.id -> model.id']
    description: writes
    execution: sequential
    next: [load.user]
  - name: load.user
    input: ['model.id -> id']
    process: load.user
    output: ['result -> output.body']
    description: reads
    execution: end
)"},
             {"tasks/save.user.js", R"(function handleEvent(headers, input) {
  users['user:' + input.id] = input;
  if (input.bad) throw new AppException(422, 'no');
  return { id: input.id };
})"},
             {"tasks/load.user.sql", "SELECT META(u).id AS k, u.name FROM b u WHERE u.id = $id"},
             {"sluice.yaml", "tasks:\n  save.user:\n    keyspaces: {users: b}\n"}}),
      "");
  const auto body = [](bool bad) {
    Value user = Value::Object({{"id", 7}, {"name", "Joe"}});
    if (bad) user.Set("bad", true);
    return Value::Object({{"body", std::move(user)}});
  };
  EXPECT_THAT(Run("save", body(true)), HasSubstr("422"));
  EXPECT_FALSE(database_->Get(*database_->Resolve({.bucket = "b"}), "user:7")->has_value());
  EXPECT_EQ(Run("save", body(false)), R"(200 [{"k":"user:7","name":"Joe"}])");
}

TEST_F(RouteTest, OnlyALoadedAppNeedsTheKeyspacesOfItsStatements) {
  const Bundle missing{{{"tasks/load.rate.sql", "SELECT r.rate\nFROM rates r"}}};
  const auto check = [&](const Bundle& bundle) {
    flow::Problems problems;
    host_->Check(bundle, &problems);
    return problems.Sorted().empty() ? "" : problems.Sorted().front().ToString();
  };
  EXPECT_THAT(check(missing), HasSubstr("tasks/load.rate.sql:2:6: warning: keyspace 'rates"));
  EXPECT_THAT(Apply(missing.files), HasSubstr("tasks/load.rate.sql:2:6: error: keyspace 'rates"));
  EXPECT_THAT(check({{{"tasks/load.rate.sql", "SELECT FROM rates"}}}),
              HasSubstr("tasks/load.rate.sql:1:8: error: "));
}

TEST_F(RouteTest, LuaTasksAreOneTransaction) {
  EXPECT_EQ(Apply({{"tasks/count.demo.lua", R"(local function main(headers, input, instance)
  if input.loop then while true do end end
  local stmt = db:prepare('UPSERT INTO b (KEY, VALUE) VALUES ($1, {"n": $2})')
  stmt:bind(1, input.key)
  stmt:bind(2, input.n)
  stmt:exec()
  if input.n < 0 then error('negative') end
  if input.n == 0 then return 'nothing to count', 422 end
  return {n = input.n, who = headers.who, instance = instance}, 201
end
)"}}),
            "");
  const auto call = [&](Value body) {
    std::promise<Reply> done;
    host_->engine().Call(host_->app(), "count.demo", Value::Object({{"who", "me"}}),
                         std::move(body), 10'000,
                         [&](Reply reply) { done.set_value(std::move(reply)); });
    const Reply reply = done.get_future().get();
    return fmt::format("{} {}", reply.status, json::ToText(reply.body));
  };
  const auto stored = [&](std::string_view key) {
    return database_->Get(*database_->Resolve({.bucket = "b"}), key)->has_value();
  };
  const std::string answer = call(Value::Object({{"key", "a"}, {"n", 3}}));
  EXPECT_THAT(answer, HasSubstr("201 {"));
  EXPECT_THAT(answer, HasSubstr(R"("who":"me")"));
  EXPECT_TRUE(stored("a"));
  EXPECT_THAT(call(Value::Object({{"key", "b"}, {"n", -1}})),
              HasSubstr("500 \"task 'count.demo': count.demo:7: negative"));
  EXPECT_FALSE(stored("b"));
  EXPECT_EQ(call(Value::Object({{"key", "b"}, {"n", 0}})), "422 \"nothing to count\"");
  EXPECT_FALSE(stored("b"));
  EXPECT_THAT(call(Value::Object({{"loop", true}})), HasSubstr("instructions"));
  EXPECT_THAT(Apply({{"tasks/count.demo.lua", "local function main()\n  return +\nend"}}),
              HasSubstr("tasks/count.demo.lua:"));
  EXPECT_THAT(
      Apply({{"tasks/count.demo.lua", "local function step() end\nlocal function final() end"}}),
      HasSubstr("expected 'local function main(headers, input, instance)'"));
}

TEST_F(RouteTest, ALuaTaskRunsAgainAfterAConflict) {
  ASSERT_EQ(Apply({{"tasks/add.demo.lua", R"(local function main()
  local row = db:exec("SELECT RAW n FROM b USE KEYS 'count'"):fetch()
  db:exec("UPDATE b USE KEYS 'count' SET n = n + 1")
end
)"},
                   {"tasks/get.demo.sql", "SELECT n FROM b USE KEYS 'count'"},
                   {"tasks/new.demo.sql", "INSERT INTO b (KEY, VALUE) VALUES ('count', {'n': 0})"},
                   {"sluice.yaml", "tasks: {add.demo: {instances: 4}}"}}),
            "");
  const auto call = [&](const std::string& route) {
    auto done = std::make_shared<std::promise<Reply>>();
    host_->engine().Call(host_->app(), route, Value::EmptyObject(), {}, 30'000,
                         [done](Reply reply) { done->set_value(std::move(reply)); });
    return done->get_future();
  };
  call("new.demo").get();
  std::vector<std::future<Reply>> replies;
  for (int i = 0; i < 40; ++i) replies.push_back(call("add.demo"));
  for (auto& reply : replies) {
    const Reply got = reply.get();
    EXPECT_EQ(got.status, 200) << json::ToText(got.body);
  }
  EXPECT_EQ(json::ToText(call("get.demo").get().body), R"([{"n":40}])");
}

// Calls that wait for slow clients, as those of relays, must not keep the engine's threads, also
// when they had to wait for an instance first.
TEST_F(RouteTest, CallsKeepToTheThreadsThatTheyWereGiven) {
  std::counting_semaphore<2> asked(0);
  std::counting_semaphore<2> let_go(0);
  const function::TestServer server([&](const std::string&) {
    asked.release();
    let_go.acquire();
    return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  });
  host_.reset();
  options_.max_threads = 1;
  Begin();
  ASSERT_EQ(Apply({{"sluice.yaml", "tasks: {slow.demo: {url: '" + server.url() + "'}}"}}), "");
  const auto call = [&](const std::string& route, Pool* pool) {
    auto done = std::make_shared<std::promise<Reply>>();
    host_->engine().Call(host_->app(), route, Value::EmptyObject(), Value::EmptyObject(), 60'000,
                         [done](Reply reply) { done->set_value(std::move(reply)); },
                         {.pool = pool});
    return done->get_future();
  };
  std::future<Reply> first = call("slow.demo", &host_->relays());
  std::future<Reply> second = call("slow.demo", &host_->relays());
  asked.acquire();
  let_go.release();
  EXPECT_EQ(first.get().status, 200);
  asked.acquire();
  EXPECT_EQ(call("no.op", nullptr).get().status, 200);
  let_go.release();
  EXPECT_EQ(second.get().status, 200);
}

// A flow gives up a function that has returned and waits to be stored: the next who calls it gets
// an answer.
TEST_F(RouteTest, AStopThatComesTooLateIsNobodys) {
  ASSERT_EQ(Apply({{"tasks/put.demo.js",
                    "function handleEvent(headers, input) { docs.k = input; return 'put'; }"},
                   {"sluice.yaml", "tasks: {put.demo: {keyspaces: {docs: b}}}"},
                   {"flows.yaml", "flows: ['put.yml']"},
                   {"flows/put.yml", R"(flow: {id: put, description: d, ttl: 10s}
first.task: put.demo
tasks:
  - {process: put.demo, input: ['int(1) -> n'], output: ['result -> output.body'], description: d, execution: end}
)"}}),
            "");
  // The database acknowledges the function's commit when the flow has given the function up.
  std::binary_semaphore written(0);
  std::binary_semaphore given_up(0);
  std::atomic<bool> first = true;
  const auto held = commits_->SubscribeToAll([&](const db::Committed&) {
    if (!first.exchange(false)) return;
    written.release();
    given_up.acquire();
  });
  flow::Start start;
  start.flow = "put";
  start.input = Value::EmptyObject();
  const Engine::Handle handle =
      host_->engine().Start(host_->app(), std::move(start), [](const Reply&) {});
  written.acquire();
  EXPECT_EQ(Get("k"), R"({"n":1})");
  host_->engine().Abandon(handle);
  WaitUntil([&] { return host_->engine().running() == 0; });
  given_up.release();
  std::promise<Reply> done;
  host_->engine().Call(host_->app(), "put.demo", Value::EmptyObject(), Value::Object({{"n", 2}}),
                       30'000, [&](Reply reply) { done.set_value(std::move(reply)); });
  const Reply reply = done.get_future().get();
  EXPECT_EQ(reply.status, 200) << json::ToText(reply.body);
  EXPECT_EQ(Get("k"), R"({"n":2})");
}

TEST_F(RouteTest, EndpointsAreFoundByHowSpecificTheyAre) {
  EXPECT_EQ(Apply({{"rest.yaml", R"(rest:
  - {service: no.op, methods: [GET], url: '/api/{a}', authentication: none}
  - {service: no.op, methods: [GET, POST], url: '/api/me?x=_', authentication: none}
  - {service: no.op, methods: [GET], url: '/api/*', authentication: none}
  - {service: no.op, methods: [GET], url: '/api/{a}/b', authentication: none}
)"}}),
            "");
  const auto app = host_->app();
  const auto url = [&](std::string_view method, std::string_view path) -> std::string {
    const auto match = app->rest.Find(method, path);
    return match.endpoint == nullptr ? (match.path_known ? "405" : "404") : match.endpoint->url;
  };
  EXPECT_EQ(url("GET", "/API/Me"), "/api/me");
  EXPECT_EQ(url("GET", "/api/you"), "/api/{a}");
  EXPECT_EQ(url("GET", "/api/x/b"), "/api/{a}/b");
  EXPECT_EQ(url("GET", "/api/x/c"), "/api/*");
  EXPECT_EQ(url("DELETE", "/api/me"), "405");
  EXPECT_EQ(url("GET", "/other"), "404");
  EXPECT_EQ(app->rest.Find("GET", "/api/You").parameters[0],
            (std::pair<std::string, std::string>("a", "You")));
}

TEST_F(RouteTest, InstancesBoundHowManyRunAtOnce) {
  EXPECT_EQ(Apply({{"tasks/slow.demo.js",
                    "function handleEvent(h, i, instance) {"
                    "const end = Date.now() + 5; while (Date.now() < end); "
                    "return instance; }"},
                   {"sluice.yaml", "tasks: {slow.demo: {instances: 2}}"}}),
            "");
  std::vector<std::future<Reply>> replies;
  for (int i = 0; i < 20; ++i) {
    auto done = std::make_shared<std::promise<Reply>>();
    replies.push_back(done->get_future());
    host_->engine().Call(host_->app(), "slow.demo", Value::EmptyObject(), {}, 10'000,
                         [done](Reply reply) { done->set_value(std::move(reply)); });
  }
  for (auto& reply : replies) {
    const Value instance = reply.get().body;
    EXPECT_TRUE(instance == Value(1) || instance == Value(2)) << json::ToText(instance);
  }
}

TEST_F(RouteTest, ConfigurationHasTypes) {
  ASSERT_EQ(Apply({{"flows.yaml", "flows: ['shop.yml']"},
                   {"flows/shop.yml", R"(flow: {id: shop, description: d, ttl: '${config.shop.ttl}'}
first.task: a
tasks:
  - {name: a, process: no.op, input: ['map(config.shop) -> shop'], output: ['result.shop -> output.body', 'text(${shop.name} ${config.shop.code}) -> output.body.also'], description: d, execution: end}
)"},
                   {"sluice.yaml",
                    "config: {shop: {limit: 5, open: true, name: demo, version: 1.10, code: '7', "
                    "ttl: 10}}"}}),
            "");
  EXPECT_EQ(Run("shop", Value::EmptyObject()),
            R"(200 {"limit":5,"open":true,"name":"demo","version":1.10,"code":"7","ttl":10,)"
            R"("also":"demo 7"})");
}

}  // namespace
}  // namespace sluice::flow_engine
