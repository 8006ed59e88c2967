// Any text as a flow: it compiles or tells problems, each with an id and a place, and what was
// compiled can be run to its end with functions that answer, whatever they are.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "flow/compile.h"
#include "flow/run.h"
#include "flow/run_codec.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow {
namespace {

constexpr int kMostSteps = 200;

const json::Value& Dataset() {
  static const json::Value* const dataset = new json::Value(*json::Parse(
      R"({"method":"GET","header":{"a":"b"},"query":{"q":"1"},"path_parameter":{"user":"u"},
          "body":{"n":2,"list":[1,{"id":"x"},[3]],"yes":true,"text":"hello","null":null}})"));
  return *dataset;
}

// A run that was stored goes on as the one that was not.
Run Reloaded(const Run& run, const std::shared_ptr<const FlowSet>& flows) {
  const auto stored = json::Parse(EncodeRun(run), {.max_bytes = 1 << 30});
  CHECK(stored.has_value());
  auto decoded = DecodeRun(*stored, flows, nullptr);
  CHECK(decoded.has_value());
  return *std::move(decoded);
}

void Play(const std::shared_ptr<const FlowSet>& flows, const std::string& id) {
  Run run(flows, nullptr);
  std::deque<Call> open;
  uint64_t now_ms = 1000;
  int responses = 0;
  const auto step = [&](const Event& event) {
    Actions actions;
    run.Step(event, now_ms, &actions);
    for (const Action& action : actions) {
      if (const auto* call = std::get_if<Call>(&action)) open.push_back(*call);
      if (std::holds_alternative<Respond>(action)) ++responses;
    }
    CHECK(responses <= 1);
  };
  step(Start{id, Dataset(), "run", "cid", "", 0});
  for (int i = 0; i < kMostSteps && !run.ended(); ++i) {
    if (i % 7 == 3) run = Reloaded(run, flows);
    if (open.empty()) {
      CHECK(run.next_due_ms().has_value());
      now_ms = *run.next_due_ms();
      step(Tick{});
      continue;
    }
    const Call call = open.front();
    open.pop_front();
    // Every third answer is a failure.
    step(TaskResult{call.call, i % 3 == 2 ? 500 : 200, call.headers, call.body});
  }
  if (!run.ended()) step(Cancel{});
  CHECK(run.ended());
  CHECK(responses == 1);
}

void Compile(std::string_view text) {
  const FixedSettings settings({{"NAME", "value"}}, *json::Parse(R"({"a":{"b":"${a.b}"}})"));
  CompileOptions options;
  options.settings = &settings;
  Problems problems;
  const auto flows = CompileFlows({{"f.yml", std::string(text)}}, options, &problems);
  for (const Problem& problem : problems.Sorted()) {
    CHECK(!problem.status.id().empty());
    CHECK(problem.status.place().file == "f.yml");
  }
  CHECK(flows->flows().empty() == problems.has_errors());
  for (const auto& [id, flow] : flows->flows()) Play(flows, id);
}

}  // namespace
}  // namespace sluice::flow

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::flow::Compile({reinterpret_cast<const char*>(data), size});
  return 0;
}
