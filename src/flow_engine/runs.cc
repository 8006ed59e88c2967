// Reads durable runs: heads for lists, and head, machine and steps for one run. The rows are those
// of run_rows.h. Runs that go on are in runs_resume.cc, removal is in runs_retention.cc.
#include "flow_engine/runs.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "db/catalog_rows.h"
#include "flow/portable.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using Family = db::RowFamily;

Status NotFound(std::string_view id) {
  return Error(Code::kNotFound, "flow.run_not_found", "there is no run '{}'", id);
}

// The calls that the run waits for, from its stored state.
Value WaitingOf(const Value& state) {
  Value list = Value::EmptyArray();
  for (const Value& call : state["calls"].items()) {
    if (!call["child"].is_missing()) continue;
    Value each = Value::Object({{"task", call["task"]}});
    for (const Value& frame : state["frames"].items()) {
      if (frame["id"] == call["frame"]) each.Set("flow", frame["flow"]);
    }
    for (const auto& [field, name] : {std::pair("headers", "headers"), std::pair("body", "input"),
                                      std::pair("send", "send_ms"), std::pair("due", "due_ms")}) {
      if (!call[field].is_missing()) each.Set(name, call[field]);
    }
    list.Append(std::move(each));
  }
  return list;
}

// The model of the flow that was started.
Value ModelOf(const Value& state) {
  for (const Value& frame : state["frames"].items()) {
    if (frame["id"] == state["root"]) return frame["model"];
  }
  return state["model"];
}

}  // namespace

Runs::Runs(const Services& services, Engine& engine, CurrentApp current, RunRetention retention)
    : services_(services),
      database_(services.function.database),
      engine_(engine),
      current_(std::move(current)),
      retention_(retention),
      parked_(services.function.clock, [this](const std::string& id) { return Wake(id); }),
      stop_(services.function.clock) {
  engine_.OnPark([this](const std::string& id, uint64_t due_ms) { parked_.Add(id, due_ms); });
}

Runs::~Runs() { Stop(); }

void Runs::Note(const std::shared_ptr<const App>& app) { (*apps_.Lock())[app->version] = app; }

Result<std::shared_ptr<const App>> Runs::AppOf(const std::string& version) {
  std::shared_ptr<const App> current = current_();
  if (current->version == version) return current;
  {
    const auto apps = apps_.Lock();
    const auto found = apps->find(version);
    if (found != apps->end()) {
      if (auto app = found->second.lock()) return app;
    }
  }
  std::string row;
  ASSIGN_OR_RETURN(const bool found, database_.rows().Get(Family::kRun, db::kDefinitionsShard,
                                                          AppKey(version), &row));
  if (!found) return current;  // the run is finished: only the present app is left
  ASSIGN_OR_RETURN(const Value value, db::DecodeMetaJson(AppKey(version), row));
  ASSIGN_OR_RETURN(Bundle bundle, BundleFromJson(value));
  flow::Problems problems;
  std::shared_ptr<const App> app =
      MakeApp(services_, std::move(bundle), version, Missing::kWasDropped, &problems);
  if (app == nullptr) {
    const auto sorted = problems.Sorted();
    return Fail(Code::kInvalidArgument, "flow.app_gone",
                "the files that the run began with can't be compiled any more: {}",
                sorted.empty() ? "" : sorted.front().ToString());
  }
  Note(app);
  return app;
}

Result<std::optional<std::string>> Runs::ReadRow(const std::string& id,
                                                 const std::string& key) const {
  std::string row;
  ASSIGN_OR_RETURN(const bool found,
                   database_.rows().Get(Family::kRun, database_.ShardOfKey(id), key, &row));
  if (!found) return std::nullopt;
  return row;
}

db::Commit Runs::CommitOf(const std::string& id) const {
  db::Commit commit;
  commit.shard = database_.ShardOfKey(id);
  return commit;
}

Result<RunHead> Runs::ReadHead(const std::string& id) const {
  ASSIGN_OR_RETURN(const auto row, ReadRow(id, HeadKey(id)));
  if (!row) return Unexpected(NotFound(id));
  return DecodeHead(id, *row);
}

Result<RunMachine> Runs::ReadMachine(const std::string& id) const {
  ASSIGN_OR_RETURN(const auto row, ReadRow(id, MachineKey(id)));
  if (!row) return Unexpected(NotFound(id));
  return DecodeMachine(*row);
}

Result<std::optional<std::string>> Runs::ReadVersion(const std::string& id) const {
  return ReadRow(id, LiveKey(id));
}

Result<Value> Runs::ReadInput(const std::string& id) const {
  ASSIGN_OR_RETURN(const auto row, ReadRow(id, InputKey(id)));
  if (!row) return Value();
  return DecodeInput(*row);
}

Result<Runs::Page> Runs::List(const Filter& filter) const {
  Page page;
  db::RowRange options{.from = std::string(kHeadPrefix),
                       .to = PrefixEnd(kHeadPrefix),
                       .order = db::RowRange::Order::kReverse};
  if (!filter.before.empty()) options.to = HeadKey(filter.before);
  const auto rows = database_.rows().NewIteratorOfAll(Family::kRun, options);
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(RunHead head,
                     DecodeHead(rows->key().substr(kHeadPrefix.size()), rows->value()));
    if (!filter.flow.empty() && head.flow != filter.flow) continue;
    if (filter.phase && head.phase != *filter.phase) continue;
    if (page.runs.size() == filter.limit) {
      page.next = page.runs.back().id;
      return page;
    }
    page.runs.push_back(std::move(head));
  }
  RETURN_IF_ERROR(rows->status());
  return page;
}

Result<Value> Runs::Show(const std::string& id) const {
  ASSIGN_OR_RETURN(const RunHead head, ReadHead(id));
  ASSIGN_OR_RETURN(const RunMachine machine, ReadMachine(id));
  ASSIGN_OR_RETURN(const Value state, json::Parse(machine.text));
  Value view = ViewOf(head);
  Value steps = Value::EmptyArray();
  const std::string prefix = StepPrefix(id);
  const auto rows = database_.rows().NewIterator(Family::kRun, database_.ShardOfKey(id),
                                                 {.from = prefix, .to = PrefixEnd(prefix)});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(StoredStep step, DecodeStep(rows->value()));
    steps.Append(std::move(step.view));
  }
  RETURN_IF_ERROR(rows->status());
  view.Set("steps", std::move(steps));
  view.Set("waiting", WaitingOf(state));
  view.Set("model", ModelOf(state));
  return view;
}

}  // namespace sluice::flow_engine
