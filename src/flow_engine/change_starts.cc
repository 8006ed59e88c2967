#include "flow_engine/change_starts.h"

#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "json/parse.h"

namespace sluice::flow_engine {
namespace {

using json::Value;

constexpr size_t kMostRunsAtOnce = 64;
constexpr std::string_view kFilter =
    "SELECT RAW true FROM [$1] AS change_ LET `operation` = change_.`operation`, `key` = "
    "change_.`key`, `before` = change_.`before`, `after` = change_.`after` WHERE ({})";

struct ChangeEvent : follow::Event {
  Value change;
};

Result<Value> DocumentOf(const std::optional<db::DocumentView>& view) {
  if (!view || view->tombstone) return Value();
  if (view->datatype != db::Datatype::kJson) return Value::Bytes(view->body);
  return json::Parse(view->body);
}

Result<Value> ChangeValue(const std::string& keyspace, const db::Change& change) {
  Value value = Value::Object({{"operation", db::OperationName(change.operation)},
                               {"keyspace", keyspace},
                               {"key", std::string(change.key)},
                               {"time_ms", Value::Unsigned(change.time_ms)}});
  ASSIGN_OR_RETURN(Value before, DocumentOf(change.before));
  ASSIGN_OR_RETURN(Value after, DocumentOf(change.after));
  if (!before.is_missing()) value.Set("before", std::move(before));
  if (!after.is_missing()) value.Set("after", std::move(after));
  return value;
}

}  // namespace

std::string FollowerOf(const flow::Flow& flow) { return std::string(kFlowFollowers) + flow.id; }

std::string FilterStatement(const flow::Flow& flow) {
  return fmt::format(kFilter, flow.start.filter);
}

flow::Start StartWith(const flow::Flow& flow, Value body) {
  flow::Start start;
  start.flow = flow.id;
  start.input = Value::Object({{"body", std::move(body)}, {"header", Value::EmptyObject()}});
  start.cid = NewUuid();
  return start;
}

ChangeStarts::ChangeStarts(const Services& services, Engine& engine, std::shared_ptr<const App> app,
                           const flow::Flow& flow, db::ShardId shard)
    : services_(services),
      engine_(engine),
      app_(std::move(app)),
      flow_(flow),
      shard_(shard),
      follower_({.processor = *this,
                 .failures = *this,
                 .sink = *this,
                 .clock = services.function.clock,
                 .stopping = [] { return false; }},
                [this] { return OpenQueue(); }) {}

ChangeStarts::~ChangeStarts() = default;

follow::SerialFollower::Stepped ChangeStarts::Step() {
  using State = follow::SerialFollower::Stepped::State;
  if (paused_until_ && services_.function.clock.Now() < *paused_until_) {
    return {.state = State::kPaused, .until = paused_until_};
  }
  const auto stepped = follower_.Step();
  paused_until_.reset();
  if (stepped.state == State::kPaused) paused_until_ = stepped.until;
  return stepped;
}

Result<std::unique_ptr<follow::LaneQueue>> ChangeStarts::OpenQueue() {
  return follow::LaneQueue::Open(
      std::make_unique<follow::DatabaseSource>(services_.function.database, FollowerOf(flow_),
                                               shard_),
      [this](const db::Change& change, const db::CursorState&) { return EventOf(change); });
}

Result<follow::EventPtr> ChangeStarts::EventOf(const db::Change& change) {
  ASSIGN_OR_RETURN(Value value, ChangeValue(flow_.start.on, change));
  if (!Fires(value)) return nullptr;
  auto event = std::make_unique<ChangeEvent>();
  event->change = std::move(value);
  event->bytes = change.key.size();
  if (change.before) event->bytes += change.before->body.size();
  if (change.after) event->bytes += change.after->body.size();
  return event;
}

bool ChangeStarts::Fires(const Value& change) {
  if (flow_.start.filter.empty()) return true;
  const Result<bool> passes = Passes(change);
  if (passes) return *passes;
  // The run starts, and the flow decides: a change must not get lost.
  log::Warn("a flow's filter failed", {{"flow", flow_.id}, {"error", passes.error().ToString()}});
  return true;
}

// The filter may need a keyspace that was dropped: the other flows' starts don't.
Result<bool> ChangeStarts::Passes(const Value& change) {
  if (filter_ == nullptr) {
    ASSIGN_OR_RETURN(filter_, services_.queries.Prepare(FilterStatement(flow_), {}));
  }
  query::RunRequest request;
  request.positional.push_back(change);
  ASSIGN_OR_RETURN(const auto run, services_.queries.Execute(filter_, std::move(request)));
  if (run->Next()) return true;
  RETURN_IF_ERROR(run->status());
  return false;
}

Result<follow::Processor::Ran> ChangeStarts::Run(const follow::Event& event, Place) {
  const Value& change = static_cast<const ChangeEvent&>(event).change;
  launches_.push_back({app_, StartWith(flow_, change), "change"});
  return Ran::kDone;
}

bool ChangeStarts::full() const { return launches_.size() >= kMostRunsAtOnce; }

Status ChangeStarts::Apply(db::Commit commit) {
  ASSIGN_OR_RETURN(const auto ids,
                   engine_.LaunchAll(std::exchange(launches_, {}), std::move(commit)));
  return OkStatus();
}

follow::Verdict ChangeStarts::OnTrouble(follow::Trouble, const Status& status) {
  // Too many runs: they start when others have ended.
  if (status.code() != Code::kOverloaded) {
    log::Error("flows can't be started", {{"flow", flow_.id}, {"error", status.ToString()}});
  }
  return follow::Verdict::Again(kPauseAfterFailure);
}

}  // namespace sluice::flow_engine
