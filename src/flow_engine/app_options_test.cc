// What runs when an app is loaded, and who is told when a run has ended.
#include <algorithm>
#include <string>

#include "flow_engine/test_host.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::HasSubstr;
using Files = std::map<std::string, std::string, std::less<>>;

// Appends to the list `seen` what it gets.
constexpr std::string_view kNote = R"(function handleEvent(headers, input) {
  const seen = notes.seen || [];
  seen.push({ headers, input });
  notes.seen = seen;
  if (input.fail) throw new AppException(422, 'refused');
  return input;
}
)";

std::string FlowText(std::string_view id, std::string_view head) {
  return fmt::format(R"(flow: {{id: {}, description: d, ttl: 1h{}}}
first.task: one
tasks:
  - name: one
    process: note.it
    input: ['model.flow -> flow', 'input.body -> body', 'input.body.fail -> fail']
    output: ['result.body -> output.body']
    description: d
    execution: end
)",
                     id, head);
}

class AppOptionsTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    ASSERT_TRUE(database_->admin().CreateBucket("app").ok());
  }
  std::string Load(const std::string& options, Files more = {}) {
    more["flows.yaml"] = "flows: ['plain.yml', 'stored.yml']";
    if (!more.contains("flows/plain.yml")) more["flows/plain.yml"] = FlowText("plain", "");
    if (!more.contains("flows/stored.yml")) {
      more["flows/stored.yml"] = FlowText("stored", ", durable: true");
    }
    more["tasks/note.it.js"] = kNote;
    more["tasks/other.one.js"] = kNote;
    more["sluice.yaml"] =
        "tasks: {note.it: {keyspaces: {notes: app}}, other.one: {keyspaces: {notes: app}}}\n" +
        options;
    return Apply(std::move(more));
  }
  Value Seen() {
    const auto keyspace = database_->Resolve(*db::KeyspaceName::Parse("app"));
    const auto document = database_->Get(*keyspace, "seen");
    return document && *document ? *json::Parse((*document)->body) : Value::EmptyArray();
  }
  void WaitForSeen(size_t count) {
    WaitUntil([&] { return Seen().size() >= count; });
    ASSERT_GE(Seen().size(), count) << json::ToText(Seen());
  }
  // Nothing more comes of what was begun before.
  void Settle() {
    WaitUntil([&] { return host_->engine().running() == 0; });
  }
};

constexpr std::string_view kAutostart = R"(
autostart:
  - 'note.it'
  - {route: other.one, input: {size: 3}}
  - {flow: plain, input: {body: {from: '${NO_SUCH_NAME:default}'}}}
  - 'flow://stored'
)";

TEST_F(AppOptionsTest, AutostartsRunWhenTheAppIsLoaded) {
  ASSERT_EQ(Load(std::string(kAutostart)), "");
  WaitForSeen(4);
  Settle();
  std::string seen = json::ToText(Seen());
  EXPECT_THAT(seen, HasSubstr(R"({"headers":{"type":"start"},"input":{}})"));
  EXPECT_THAT(seen, HasSubstr(R"({"headers":{"type":"start"},"input":{"size":3}})"));
  EXPECT_THAT(seen, HasSubstr(R"("input":{"flow":"plain","body":{"from":"default"}})"));
  EXPECT_THAT(seen, HasSubstr(R"("input":{"flow":"stored"})"));
  const auto runs = host_->runs().List({})->runs;
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].origin, "autostart");
  // The same files again start nothing; others do.
  ASSERT_EQ(Load(std::string(kAutostart)), "");
  ASSERT_EQ(Load("autostart: ['flow://plain']"), "");
  WaitForSeen(5);
  Settle();
  EXPECT_EQ(Seen().size(), 5u);
  // And so does the start of a server.
  host_.reset();
  Begin();
  WaitForSeen(6);
  Settle();
  EXPECT_EQ(Seen().size(), 6u);
}

TEST_F(AppOptionsTest, ADurableAutostartThatGoesOnIsNotStartedAgain) {
  const std::string slow = R"(flow: {id: stored, description: d, ttl: 2h, durable: true}
first.task: one
tasks:
  - name: one
    process: note.it
    output: []
    description: d
    execution: end
    delay: 3600000
)";
  ASSERT_EQ(Load("autostart: ['flow://stored', 'flow://stored']", {{"flows/stored.yml", slow}}),
            "");
  const auto running = [&] {
    return host_->runs().List({.flow = "", .phase = RunPhase::kRunning, .before = ""})->runs;
  };
  WaitUntil([&] { return running().size() == 2; });
  const std::string first = running()[1].id;
  ASSERT_TRUE(host_->runs().Cancel(running()[0].id).ok());
  // One was ended, so one is started.
  host_.reset();
  Begin();
  WaitUntil([&] { return host_->runs().List({})->runs.size() == 3; });
  const auto now = running();
  EXPECT_EQ(now.size(), 2u);
  // The list sorts by time, which stands still here.
  EXPECT_TRUE(std::ranges::any_of(now, [&](const auto& run) { return run.id == first; }));
}

TEST_F(AppOptionsTest, ListenersAreToldOfEveryRun) {
  ASSERT_EQ(Load("listeners: ['other.one']"), "");
  EXPECT_EQ(Run("plain", Value::Object({{"body", Value::Object({{"a", 1}})}})), R"(200 {"a":1})");
  WaitForSeen(2);
  Value told = Seen()[1];
  EXPECT_EQ(told["headers"]["type"], Value("ended"));
  Value body = told["input"];
  EXPECT_EQ(body["flow"], Value("plain"));
  EXPECT_EQ(body["status"], Value(200));
  EXPECT_EQ(body["failed"], Value(false));
  EXPECT_EQ(body["tasks"], Value(1));
  EXPECT_TRUE(body["duration_us"].is_int());
  EXPECT_TRUE(body["run"].is_string());
  EXPECT_EQ(body["spans"][size_t{0}]["task"], Value("one"));
  EXPECT_EQ(body["spans"][size_t{0}]["route"], Value("note.it"));
  EXPECT_TRUE(body["spans"][size_t{0}]["ran_us"].is_int());
  // A durable one that fails.
  EXPECT_THAT(Run("stored", Value::Object({{"body", Value::Object({{"fail", true}})}})),
              HasSubstr("422"));
  WaitForSeen(3);
  body = Seen()[2]["input"];
  EXPECT_EQ(body["flow"], Value("stored"));
  EXPECT_EQ(body["status"], Value(422));
  EXPECT_EQ(body["failed"], Value(true));
  EXPECT_EQ(body["message"], Value("refused"));
}

TEST_F(AppOptionsTest, AFlowHasListenersOfItsOwn) {
  // One that is a flow is not told of its own end.
  ASSERT_EQ(
      Load("listeners: ['flow://stored']",
           {{"flows/plain.yml", FlowText("plain", ", listeners: ['flow://stored', 'other.one']")}}),
      "");
  EXPECT_EQ(Run("plain", Value::Object({{"body", 1}})), "200 1");
  WaitForSeen(3);
  Settle();
  const Value seen = Seen();
  ASSERT_EQ(seen.size(), 3u) << json::ToText(seen);
  int flows = 0;
  for (const Value& each : seen.items()) {
    if (each["input"]["flow"] != Value("stored")) continue;
    ++flows;
    EXPECT_EQ(each["input"]["body"]["flow"], Value("plain"));
  }
  EXPECT_EQ(flows, 1);
  EXPECT_EQ(host_->runs().List({})->runs[0].origin, "listener");
}

TEST_F(AppOptionsTest, WhatIsWrongIsTold) {
  EXPECT_EQ(Load("autostart: {a: b}"),
            "sluice.yaml:2:12: error: autostart: expected a list of flows and routes such as "
            "['flow://warm-up'] [route.invalid_options]\n");
  EXPECT_THAT(Load("autostart: ['flow://nobody']"), HasSubstr("there is no flow 'nobody'"));
  EXPECT_THAT(Load("autostart: [plain]"),
              HasSubstr("there is no route 'plain'; a flow is flow://id [route.unknown]"));
  EXPECT_THAT(Load("autostart: [{flow: plain, input: 1}]"), HasSubstr("is a map"));
  EXPECT_THAT(Load("autostart: [{flow: plain, route: note.it}]"), HasSubstr("got 'route'"));
  EXPECT_THAT(Load("autostart: [{input: {}}]"), HasSubstr("expected flow or route"));
  EXPECT_THAT(Load("listeners: other.one"), HasSubstr("expected a list of routes"));
  EXPECT_THAT(Load("listeners: [no.body]"), HasSubstr("there is no route 'no.body'"));
  EXPECT_THAT(Load("", {{"flows/plain.yml", FlowText("plain", ", listeners: no.body")}}),
              HasSubstr("flow.unknown_route"));
  EXPECT_THAT(Load("", {{"flows/plain.yml", FlowText("plain", ", listeners: 'flow://no'")}}),
              HasSubstr("flow.unknown_flow"));
}

}  // namespace
}  // namespace sluice::flow_engine
