// Any JSON as a stored run: it is refused, or goes on to its end whatever it says.
#include <cstdint>
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

constexpr std::string_view kFlow = R"(
flow: {id: f, description: d, ttl: 10s, exception: caught}
first.task: one
tasks:
  - {name: one, process: no.op, description: d, execution: fork, source: model.l, next: [two], join: steps, input: ['input.l -> model.l']}
  - {name: two, process: 'flow://g', description: d, execution: sink, input: ['model.l.ITEM -> body']}
  - {name: steps, process: no.op, description: d, execution: pipeline, pipeline: [a, b], next: [three], loop: {statement: 'for (model.n = 0; model.n < 2; model.n++)', condition: 'if (model.q) break'}}
  - {name: a, process: no.op, description: d, execution: sink, output: ['result.q -> model.q']}
  - {name: b, process: no.op, description: d, execution: sink, delay: 5}
  - {name: three, process: no.op, description: d, execution: end, ttl: 1s, output: ['model.l -> output.body']}
  - {name: caught, process: no.op, description: d, execution: decision, output: ['input.d -> decision'], next: ['@retry | three', three]}
)";
constexpr std::string_view kChild = R"(
flow: {id: g, description: d, ttl: 5s}
first.task: one
tasks:
  - {name: one, process: no.op, description: d, execution: response, next: [two], output: ['input.body -> output.body', 'text(x) -> model.parent.x']}
  - {name: two, process: no.op, description: d, execution: end, input: ['model.root.x -> x']}
)";

const std::shared_ptr<const FlowSet>& Flows() {
  static const auto* const flows = [] {
    const FixedSettings settings;
    CompileOptions options;
    options.settings = &settings;
    Problems problems;
    auto* made = new std::shared_ptr<const FlowSet>(CompileFlows(
        {{"f.yml", std::string(kFlow)}, {"g.yml", std::string(kChild)}}, options, &problems));
    CHECK(!problems.has_errors());
    return made;
  }();
  return *flows;
}

void GoOn(Run run) {
  constexpr int kMostSteps = 50;
  constexpr uint64_t kLatest = 1ull << 60;
  uint64_t now_ms = 1000;
  for (int i = 0; i < kMostSteps && !run.ended(); ++i) {
    Actions actions;
    const std::vector<Call> open = run.OpenCalls();
    if (open.empty() || i % 5 == 4) {
      now_ms = std::max(now_ms, std::min(kLatest, run.next_due_ms().value_or(now_ms)));
      run.Step(Tick{}, now_ms, &actions);
    } else {
      const Call& call = open.front();
      run.Step(TaskResult{call.call, i % 4 == 3 ? 500 : 200, call.headers, call.body}, now_ms,
               &actions);
    }
    CHECK(json::Parse(EncodeRun(run)).has_value());
  }
  Actions actions;
  run.Step(Cancel{}, now_ms, &actions);
  CHECK(run.ended() || !run.state().started);
}

void Decode(std::string_view text) {
  const auto value = json::Parse(text);
  if (!value) return;
  auto run = DecodeRun(*value, Flows(), nullptr);
  if (!run) {
    CHECK(!run.error().id().empty());
    return;
  }
  GoOn(*std::move(run));
}

}  // namespace
}  // namespace sluice::flow

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::flow::Decode({reinterpret_cast<const char*>(data), size});
  return 0;
}
