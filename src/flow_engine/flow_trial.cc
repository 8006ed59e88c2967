#include "flow_engine/flow_trial.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/nearest.h"
#include "flow/builtin.h"

namespace sluice::flow_engine {
namespace {

using json::Value;

constexpr uint64_t kTrialTimeoutMs = 30'000;  // of a function

std::string KeyOf(std::string_view flow, std::string_view task) {
  return fmt::format("{}/{}", flow, task);
}

Status InvalidTrial(const std::string& message) {
  return Error(Code::kInvalidArgument, "trial.invalid", "{}", message);
}

std::vector<std::string> TaskNames(const flow::Flow& flow) {
  std::vector<std::string> names;
  for (const flow::Task& task : flow.tasks) names.push_back(task.name);
  return names;
}

// `flow/task`, or a task of the flow that is run.
Result<std::string> ResolveMock(const App& app, const flow::Flow& main, std::string_view name) {
  const flow::Flow* flow = &main;
  std::string_view task = name;
  if (main.Find(name) == flow::kNoTask) {
    const size_t slash = name.find('/');
    const flow::Flow* const other =
        slash == std::string_view::npos ? nullptr : app.flows->Find(name.substr(0, slash));
    if (other != nullptr) {
      flow = other;
      task = name.substr(slash + 1);
    }
  }
  if (flow->Find(task) == flow::kNoTask) {
    return Unexpected(InvalidTrial(fmt::format("flow {} has no task '{}'{}", flow->id, task,
                                               DidYouMean(task, TaskNames(*flow)))));
  }
  return KeyOf(flow->id, task);
}

Status CheckRoutes(const App& app, const Value& answer, std::string_view name) {
  if (answer.is_array()) {
    if (answer.size() == 0)
      return InvalidTrial(fmt::format("the mock of {} is an empty list", name));
    for (const Value& each : answer.items()) RETURN_IF_ERROR(CheckRoutes(app, each, name));
    return OkStatus();
  }
  if (!answer.is_object()) {
    return InvalidTrial(
        fmt::format("the mock of {}: expected a map with body, status, headers, stack, "
                    "after and never, or with route",
                    name));
  }
  constexpr std::string_view kKnown[] = {"body",  "status", "headers", "stack",
                                         "after", "never",  "route"};
  for (const json::Field& field : answer.fields()) {
    if (std::ranges::find(kKnown, field.name()) != std::end(kKnown)) continue;
    return InvalidTrial(fmt::format("the mock of {} has an unknown key '{}'", name, field.name()));
  }
  const Value* const route = answer.Find("route");
  if (route == nullptr) return OkStatus();
  if (route->is_string() && app.FindRoute(route->AsString()) != nullptr) return OkStatus();
  return InvalidTrial(fmt::format("the mock of {} names a route that does not exist", name));
}

// A sub-flow that is mocked is called as if it were a function.
std::shared_ptr<const flow::FlowSet> WithoutMocked(const App& app, const Value& mocks) {
  std::vector<std::shared_ptr<const flow::Flow>> flows;
  for (const auto& [id, flow] : app.flows->flows()) {
    auto copy = std::make_shared<flow::Flow>(*flow);
    for (flow::Task& task : copy->tasks) {
      if (mocks.Find(KeyOf(id, task.name)) != nullptr) task.subflow.clear();
    }
    flows.push_back(std::move(copy));
  }
  return std::make_shared<const flow::FlowSet>(std::move(flows));
}

flow::PlayedAnswer RunBuiltin(flow::Builtin builtin, const flow::Call& call, uint64_t now_ms) {
  const flow::BuiltinAnswer answer = builtin(call.headers, call.body, now_ms);
  flow::PlayedAnswer played;
  played.result.status = answer.status;
  played.result.headers = answer.headers;
  played.result.body = answer.body;
  played.result.hold_next_ms = answer.hold_next_ms;
  return played;
}

flow::PlayedAnswer RunRoute(const App& app, std::string_view name, const flow::Call& call,
                            StreamScope* streams) {
  flow::PlayedAnswer played;
  Route* const route = app.FindRoute(name);
  Route::Slot* const slot = route == nullptr ? nullptr : route->TryEnter();
  if (slot == nullptr) {
    played.result.status = 500;
    played.result.body = Value(fmt::format("Route {} not found", name));
    return played;
  }
  TaskOutput output = route->Run(*slot, {.headers = call.headers,
                                         .body = call.body,
                                         .timeout_ms = kTrialTimeoutMs,
                                         .streams = streams,
                                         .route = name,
                                         .cid = "test"});
  route->Leave(slot);
  played.after_ms = output.answer_after_ms;
  played.result.status = output.status;
  played.result.headers = std::move(output.headers);
  played.result.body = std::move(output.body);
  played.result.stack = std::move(output.stack);
  return played;
}

}  // namespace

Result<flow::Played> PlayFlow(const App& app, const FlowTrial& trial, SteppedClock* clock) {
  const flow::Flow* const main = app.flows->Find(trial.flow);
  if (main == nullptr) {
    std::vector<std::string> ids;
    for (const auto& [id, flow] : app.flows->flows()) ids.push_back(id);
    return Unexpected(InvalidTrial(
        fmt::format("there is no flow '{}'{}", trial.flow, DidYouMean(trial.flow, ids))));
  }
  Value mocks = Value::EmptyObject();
  for (const json::Field& mock : trial.mocks.fields()) {
    ASSIGN_OR_RETURN(const std::string key, ResolveMock(app, *main, mock.name()));
    RETURN_IF_ERROR(CheckRoutes(app, mock.value, mock.name()));
    mocks.Set(key, mock.value);
  }
  const auto flows = WithoutMocked(app, mocks);
  flow::CannedAnswers answers(mocks);
  StreamScope streams;
  const auto answer = [&](const flow::Call& call, uint64_t now_ms) {
    clock->SetMs(now_ms);
    const std::string key = KeyOf(call.flow, call.task);
    std::string route(call.route);
    if (answers.Has(key)) {
      const Value written = answers.Next(key);
      if (written.Find("route") == nullptr) return flow::CannedAnswers::ToAnswer(written, call);
      route = written["route"].AsString();
    }
    // Built-ins that wait do so by the run's clock.
    if (const flow::Builtin builtin = flow::FindBuiltin(route)) {
      return RunBuiltin(builtin, call, now_ms);
    }
    return RunRoute(app, route, call, &streams);
  };
  flow::Start start;
  start.flow = trial.flow;
  start.input = trial.input;
  start.run = "test";
  start.cid = "test";
  start.ttl_ms = trial.ttl_ms;
  return flow::Player(flows, app.files.get(), answer, clock->WallMs()).Play(start);
}

}  // namespace sluice::flow_engine
