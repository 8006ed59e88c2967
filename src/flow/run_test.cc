#include "flow/run.h"

#include <string>

#include <gtest/gtest.h>

#include "flow/compile.h"
#include "flow/run_codec.h"
#include "flow/text_form.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow {
namespace {

constexpr std::string_view kTwoTasks = R"(
flow: {id: two, description: d, ttl: 10s}
first.task: one
tasks:
  - {process: one, description: d, execution: sequential, next: [two], input: ['input.body -> body'], output: ['result -> model.r']}
  - {process: two, description: d, execution: end, input: ['model.r -> r'], output: ['result -> output.body']}
)";

std::shared_ptr<const FlowSet> Compiled(std::string_view text) {
  const FixedSettings settings;
  CompileOptions options;
  options.settings = &settings;
  Problems problems;
  auto flows = CompileFlows({{"f.yml", std::string(text)}}, options, &problems);
  for (const Problem& problem : problems.Sorted()) ADD_FAILURE() << problem.ToString();
  return flows;
}

Start StartOf(std::string flow, json::Value input = json::Value::EmptyObject()) {
  return {std::move(flow), std::move(input), "run-1", "cid-1", "", 0};
}

json::Value Nested(int depth) {
  json::Value value = 1;
  for (int i = 0; i < depth; ++i) value = json::Value::Array({value});
  return value;
}

TEST(Run, SaysWhatToDoStepByStep) {
  flow::Run run(Compiled(kTwoTasks), nullptr);
  Actions actions;
  run.Step(StartOf("two", json::Value::Object({{"body", "x"}})), 1000, &actions);
  ASSERT_EQ(actions.size(), 1u);
  const Call first = std::get<Call>(actions[0]);
  EXPECT_EQ(first.route, "one");
  EXPECT_EQ(first.body["body"], json::Value("x"));
  EXPECT_EQ(first.due_ms, 11'000u);
  EXPECT_EQ(run.next_due_ms(), 11'000u);
  ASSERT_EQ(run.OpenCalls().size(), 1u);
  EXPECT_EQ(run.OpenCalls()[0].call, first.call);

  actions.clear();
  run.Step(TaskResult{first.call, 200, {}, 5}, 1001, &actions);
  ASSERT_EQ(actions.size(), 1u);
  const Call second = std::get<Call>(actions[0]);
  EXPECT_EQ(second.task, "two");
  EXPECT_EQ(second.body["r"], json::Value(5));

  actions.clear();
  run.Step(TaskResult{first.call, 200, {}, 6}, 1002, &actions);  // answered before
  EXPECT_TRUE(actions.empty());

  run.Step(TaskResult{second.call, 200, {}, "done"}, 1003, &actions);
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(std::get<Respond>(actions[0]).body, json::Value("done"));
  EXPECT_EQ(std::get<Ended>(actions[1]).status, 200);
  EXPECT_TRUE(run.ended());
  EXPECT_EQ(run.next_due_ms(), std::nullopt);

  actions.clear();
  run.Step(Tick{}, 99'000, &actions);
  EXPECT_TRUE(actions.empty());
}

TEST(Run, ACopyGoesOnByItself) {
  flow::Run run(Compiled(kTwoTasks), nullptr);
  Actions actions;
  run.Step(StartOf("two"), 1000, &actions);
  const uint64_t call = std::get<Call>(actions[0]).call;
  flow::Run copy = run;
  actions.clear();
  run.Step(TaskResult{call, 500, {}, "broken"}, 1001, &actions);
  EXPECT_TRUE(run.ended());
  actions.clear();
  copy.Step(TaskResult{call, 200, {}, 7}, 1001, &actions);
  EXPECT_FALSE(copy.ended());
  EXPECT_EQ(copy.model()["r"], json::Value(7));
  EXPECT_TRUE(run.model()["r"].is_missing());
}

TEST(Run, ALateResultFindsTheFlowEnded) {
  flow::Run run(Compiled(kTwoTasks), nullptr);
  Actions actions;
  run.Step(StartOf("two"), 1000, &actions);
  const uint64_t call = std::get<Call>(actions[0]).call;
  actions.clear();
  run.Step(TaskResult{call, 200, {}, 7}, 11'000, &actions);
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_EQ(std::get<Abandon>(actions[0]).call, call);
  EXPECT_EQ(std::get<Respond>(actions[1]).status, 408);
}

TEST(Run, RefusesWhatIsTooDeep) {
  flow::Run run(Compiled(kTwoTasks), nullptr);
  Actions actions;
  run.Step(StartOf("two", json::Value::Object({{"body", Nested(kMaxNesting)}})), 1, &actions);
  EXPECT_EQ(std::get<Respond>(actions[0]).status, 400);
  EXPECT_TRUE(run.ended());

  flow::Run other(Compiled(kTwoTasks), nullptr);
  actions.clear();
  other.Step(StartOf("two"), 1, &actions);
  const uint64_t call = std::get<Call>(actions[0]).call;
  actions.clear();
  other.Step(TaskResult{call, 200, {}, Nested(kMaxNesting + 1)}, 2, &actions);
  EXPECT_EQ(std::get<Respond>(actions[0]).body["message"],
            json::Value("the task's answer: maps and lists are nested more than 120 deep"));
}

constexpr std::string_view kFork = R"(
flow: {id: fork, description: d, ttl: 10s}
first.task: one
tasks:
  - {process: one, description: d, execution: fork, source: model.l, next: [two], join: three, input: ['input.l -> model.l']}
  - {process: two, description: d, execution: sink, input: ['model.l.ITEM -> i'], output: ['result.i -> model.done[]']}
  - {process: three, description: d, execution: end, output: ['model.done -> output.body']}
)";

// The calls of a fork over `count` numbers.
std::vector<Call> Forked(flow::Run* run, int count) {
  json::Value list = json::Value::EmptyArray();
  for (int i = 0; i < count; ++i) list.Append(i);
  Actions actions;
  run->Step(StartOf("fork", json::Value::Object({{"l", list}})), 1, &actions);
  const uint64_t first = std::get<Call>(actions[0]).call;
  actions.clear();
  run->Step(TaskResult{first, 200, {}, 1}, 2, &actions);
  std::vector<Call> calls;
  for (const Action& action : actions) {
    if (const auto* call = std::get_if<Call>(&action)) calls.push_back(*call);
  }
  return calls;
}

TEST(Run, JoinsManyBranchesInAnyOrder) {
  flow::Run run(Compiled(kFork), nullptr);
  const std::vector<Call> calls = Forked(&run, 2000);
  ASSERT_EQ(calls.size(), 2000u);
  Actions actions;
  for (size_t i = calls.size(); i-- > 0;) {
    EXPECT_TRUE(actions.empty());
    run.Step(TaskResult{calls[i].call, 200, {}, calls[i].body}, 3, &actions);
  }
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(std::get<Call>(actions[0]).task, "three");
  EXPECT_EQ(run.model()["done"].size(), 2000u);
  EXPECT_EQ(run.model()["done"][0], json::Value(1999));
}

TEST(Run, HasAMostOfBranches) {
  flow::Run run(Compiled(kFork), nullptr);
  EXPECT_TRUE(Forked(&run, static_cast<int>(kMaxBranches) + 1).empty());
  EXPECT_TRUE(run.ended());
  EXPECT_EQ(run.state().message, "Task one has more than 10000 branches");
}

TEST(Run, CancellingTellsWhoIsStillAtWork) {
  flow::Run run(Compiled(kFork), nullptr);
  const std::vector<Call> calls = Forked(&run, 2);
  Actions actions;
  run.Step(Cancel{410, "enough"}, 3, &actions);
  ASSERT_EQ(actions.size(), 4u);
  EXPECT_EQ(std::get<Respond>(actions[0]).status, 410);
  EXPECT_EQ(std::get<Abandon>(actions[1]).call, calls[0].call);
  EXPECT_EQ(std::get<Abandon>(actions[2]).call, calls[1].call);
  EXPECT_EQ(std::get<Ended>(actions[3]).message, "enough");
}

// What is stored is as deep as it may be, and of every type.
TEST(RunCodec, KeepsDeepValuesAndAllTypes) {
  const auto flows = Compiled(kTwoTasks);
  flow::Run run(flows, nullptr);
  Actions actions;
  json::Value body = json::Value::Object({{"bytes", json::Value::Bytes("\xff\x00")},
                                          {"double", 2.0},
                                          {"time", json::Value(json::Datetime{5})},
                                          {"$sluice", "bytes"},
                                          {"$$sluice", 1}});
  run.Step(StartOf("two", json::Value::Object({{"body", body}, {"deep", Nested(kMaxNesting - 1)}})),
           1, &actions);
  const auto parsed = json::Parse(EncodeRun(run));
  ASSERT_TRUE(parsed) << parsed.error().ToString();
  auto decoded = DecodeRun(*parsed, flows, nullptr);
  ASSERT_TRUE(decoded) << decoded.error().ToString();
  const json::Value& found = decoded->state().frames[0].input["body"];
  EXPECT_EQ(found, body);
  EXPECT_TRUE(found["bytes"].is_bytes());
  EXPECT_TRUE(found["double"].is_double());
  EXPECT_TRUE(found["time"].is_datetime());
}

// The format of docs/formats/runs.md, as it stays.
TEST(RunCodec, IsStoredLikeThis) {
  const auto flows = Compiled(R"(
flow: {id: f, description: d, ttl: 10s}
first.task: one
tasks:
  - {process: one, description: d, execution: fork, source: model.l, next: [two], join: three, input: ['input.l -> model.l', 'text(s) -> model.root.s'], exception: three}
  - {process: two, description: d, execution: sink, input: ['model.l.ITEM -> i'], delay: 500}
  - {process: three, description: d, execution: end, ttl: 1s, output: ['model.root.s -> output.body']}
)");
  flow::Run run(flows, nullptr);
  Actions actions;
  const json::Value input = json::Value::Object({{"l", json::Value::Array({2.0})}});
  run.Step(StartOf("f", input), 1000, &actions);
  run.Step(TaskResult{std::get<Call>(actions[0]).call, 200, {}, 1}, 1001, &actions);
  EXPECT_EQ(
      EncodeRun(run),
      R"({"v":1,"run":"run-1","cid":"cid-1","trace":"","status":200,"message":"","started":true,)"
      R"("ended":false,"last":4,"root":1,"shared":{"s":"s"},"frames":[{"flow":"f",)"
      R"("responded":false,"id":1,"input":{"l":[{"$sluice":"double","v":"2"}]},)"
      R"("model":{"instance":"run-1","cid":"cid-1","flow":"f","ttl":10000,)"
      R"("l":[{"$sluice":"double","v":"2"}]},"ttl":10000,"due":11000}],)"
      R"("groups":[{"outer":{},"task":"one","id":3,"frame":1,"expected":1}],)"
      R"("calls":[{"line":{"group":3,"index":0,"item":{"$sluice":"double","v":"2"}},"task":"two",)"
      R"("id":4,"frame":1,"headers":{},"body":{"i":{"$sluice":"double","v":"2"}},"send":1501}]})");
}

TEST(RunCodec, RefusesWhatIsNotAStoredRun) {
  const auto flows = Compiled(kTwoTasks);
  flow::Run run(flows, nullptr);
  Actions actions;
  run.Step(StartOf("two"), 1, &actions);
  const json::Value good = *json::Parse(EncodeRun(run));
  const auto problem = [&](std::string_view from, std::string_view to) {
    std::string text = json::ToText(good);
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto decoded = DecodeRun(*json::Parse(text), flows, nullptr);
    return decoded ? "no error" : decoded.error().ToString();
  };
  constexpr std::string_view kPrefix = "flow.bad_state: a stored run can't be read: ";
  EXPECT_EQ(problem(R"("v":1)", R"("v":2)"), std::string(kPrefix) + "its version is not known");
  EXPECT_EQ(problem(R"("flow":"two")", R"("flow":"six")"),
            std::string(kPrefix) + "there is no flow six");
  EXPECT_EQ(problem(R"("task":"one")", R"("task":"six")"),
            std::string(kPrefix) + "flow two has no task six");
  EXPECT_EQ(problem(R"("shared":{})", R"("shared":[])"), std::string(kPrefix) + "shared");
  EXPECT_EQ(problem(R"("frame":1)", R"("frame":9)"), std::string(kPrefix) + "a call has no frame");
  EXPECT_FALSE(DecodeRun(json::Value(1), flows, nullptr));
}

}  // namespace
}  // namespace sluice::flow
