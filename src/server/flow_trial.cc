#include "server/flow_trial.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "flow/yaml_value.h"
#include "flow_engine/flow_trial.h"
#include "function/trial/path.h"
#include "json/number.h"
#include "json/parse.h"
#include "server/flow_stage.h"

namespace sluice::server {
namespace {

namespace fs = std::filesystem;
using function::trial::Below;
using function::trial::Compare;
using function::trial::Problems;
using json::Value;

constexpr std::string_view kCaseFile = "case.yaml";
constexpr size_t kMaxFileBytes = 16ull << 20;
// 2026-01-01T00:00:00Z, the same for every run.
constexpr uint64_t kNowMs = 1'767'225'600'000;
constexpr std::string_view kCaseKeys[] = {"about", "documents", "mocks", "runs"};
constexpr std::string_view kRunKeys[] = {"name",      "flow",  "input", "mocks", "ttl",
                                         "response",  "model", "order", "calls", "sends",
                                         "documents", "log",   "took"};

Status Invalid(std::string_view message, const Place& place = {}) {
  return Error(Code::kInvalidArgument, "trial.invalid", "{}", message).At(place);
}

class FlowCase {
 public:
  FlowCase(const cli::AppDirectory& app, const fs::path& directory,
           const std::vector<std::string>& directories, FlowCaseOutcome* outcome)
      : app_(app),
        directory_(directory),
        file_((directory / kCaseFile).string()),
        directories_(directories),
        outcome_(outcome) {}

  void Play() {
    Status status = Read();
    if (status.ok() && outcome_->unusable.empty()) status = PlayRuns();
    if (!status.ok()) outcome_->unusable.push_back(status);
  }

 private:
  Status Read() {
    ASSIGN_OR_RETURN(const yaml::Node root, yaml::ParseFile(file_));
    CheckKeys(root, kCaseKeys);
    const yaml::Node* const runs = root.Find("runs");
    if (runs == nullptr || !runs->is_list() || runs->items.empty()) {
      return Invalid("expected a list of runs, each with flow, input and response",
                     {file_, root.line, root.column});
    }
    for (const yaml::Node& run : runs->items) {
      CheckKeys(run, kRunKeys);
      for (const char* needed : {"flow", "response"}) {
        if (run.is_map() && run.Find(needed) != nullptr) continue;
        outcome_->unusable.push_back(
            Invalid(fmt::format("'{}' is missing", needed), {file_, run.line, run.column}));
      }
    }
    case_ = flow::ValueOf(root);
    if (case_["about"].is_string()) outcome_->about = case_["about"].AsString();
    return OkStatus();
  }

  // A slip must not pass for a check.
  void CheckKeys(const yaml::Node& map, std::span<const std::string_view> known) {
    for (const yaml::Entry& entry : map.entries) {
      if (std::ranges::find(known, entry.key) != known.end()) continue;
      outcome_->unusable.push_back(
          Invalid(fmt::format("unknown key '{}'", entry.key), {file_, entry.line, entry.column}));
    }
  }

  // The app's files, and functions that are beside the case.
  Result<flow_engine::Bundle> MakeBundle() const {
    ASSIGN_OR_RETURN(flow_engine::Bundle bundle, flow_engine::BundleFromJson(app_.flow_files));
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_)) {
      const std::string suffix = entry.path().extension().string();
      if (suffix != ".js" && suffix != ".lua" && suffix != ".sql") continue;
      ASSIGN_OR_RETURN(bundle.files["tasks/" + entry.path().filename().string()],
                       ReadFile(entry.path(), kMaxFileBytes));
    }
    return bundle;
  }

  Status PlayRuns() {
    ASSIGN_OR_RETURN(const flow_engine::Bundle bundle, MakeBundle());
    size_t number = 0;
    for (const Value& run : case_["runs"].items()) {
      const std::string name(run["name"].is_string() ? std::string(run["name"].AsString())
                                                     : std::to_string(++number));
      // Each run begins with the given documents and nothing else.
      ASSIGN_OR_RETURN(const auto stage, FlowStage::Set(app_, kNowMs, directories_));
      flow::Problems problems;
      if (!stage->Load(bundle, &problems).ok()) return Tell(problems);
      RETURN_IF_ERROR(StoreGiven(*stage));
      FlowRunOutcome played{name, {}, {}};
      const Status status = PlayRun(*stage, run, &played);
      if (!status.ok()) return status.Prefixed(fmt::format("run '{}'", name)).At({file_, 0, 0});
      outcome_->runs.push_back(std::move(played));
    }
    return OkStatus();
  }

  Status Tell(const flow::Problems& problems) {
    for (const flow::Problem& problem : problems.Sorted()) {
      if (problem.severity != flow::Problem::Severity::kError) continue;
      Place place = problem.status.place();
      place.file = (fs::path(app_.directory) / place.file).string();
      outcome_->unusable.push_back(problem.status.At(place));
    }
    return OkStatus();
  }

  Status StoreGiven(FlowStage& stage) const {
    for (const json::Field& keyspace : case_["documents"].fields()) {
      ASSIGN_OR_RETURN(const auto name, db::KeyspaceName::Parse(keyspace.name()));
      for (const json::Field& document : keyspace.value.fields()) {
        RETURN_IF_ERROR(stage.Store(name, std::string(document.name()), document.value));
      }
    }
    return OkStatus();
  }

  // The content of a file beside the case: JSON, or a text.
  Result<Value> ReadBeside(std::string_view name) const {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(directory_ / name, kMaxFileBytes));
    if (name.ends_with(".json")) return json::Parse(text);
    return Value(text);
  }

  // {file: name} becomes {body: content of the file}.
  Result<Value> WithFiles(const Value& mock) const {
    if (mock.is_array()) {
      Value list = Value::EmptyArray();
      for (const Value& each : mock.items()) {
        ASSIGN_OR_RETURN(Value made, WithFiles(each));
        list.Append(std::move(made));
      }
      return list;
    }
    if (!mock["file"].is_string()) return mock;
    Value made = mock;
    ASSIGN_OR_RETURN(Value body, ReadBeside(mock["file"].AsString()));
    made.Set("body", std::move(body));
    made.Remove("file");
    return made;
  }

  Status PlayRun(FlowStage& stage, const Value& run, FlowRunOutcome* outcome) {
    flow_engine::FlowTrial trial;
    trial.flow = run["flow"].is_string() ? std::string(run["flow"].AsString()) : "";
    if (run["input"].is_string()) {
      ASSIGN_OR_RETURN(trial.input, ReadBeside(run["input"].AsString()));
    } else if (run.Find("input") != nullptr) {
      trial.input = run["input"];
    }
    if (!trial.input.is_object()) return Invalid("input must be a map such as {body: ...}");
    for (const Value* mocks : {&case_["mocks"], &run["mocks"]}) {
      for (const json::Field& mock : mocks->fields()) {
        ASSIGN_OR_RETURN(Value made, WithFiles(mock.value));
        trial.mocks.Set(mock.name(), std::move(made));
      }
    }
    if (run["ttl"].is_int()) trial.ttl_ms = static_cast<uint64_t>(run["ttl"].AsInt());
    ASSIGN_OR_RETURN(const flow::Played played,
                     flow_engine::PlayFlow(stage.app(), trial, &stage.clock()));
    outcome->log = played.log;
    CheckPlayed(run, played, &outcome->problems);
    return CheckDocuments(stage, run, &outcome->problems);
  }

  // Keeps only the keys that a run names, in maps of any depth; null stands for a missing key.
  static Value Named(const Value& expected, const Value& got) {
    if (expected.is_array() && got.is_array()) {
      Value made = Value::EmptyArray();
      for (size_t i = 0; i < got.size(); ++i) {
        made.Append(i < expected.size() ? Named(expected[i], got[i]) : got[i]);
      }
      return made;
    }
    if (!expected.is_object() || !got.is_object()) return got;
    Value made = Value::EmptyObject();
    for (const json::Field& field : expected.fields()) {
      const Value* const found = got.Find(field.name());
      if (found != nullptr) {
        made.Set(field.name(), Named(field.value, *found));
      } else if (field.value.is_null()) {
        made.Set(field.name(), Value(nullptr));
      }
    }
    return made;
  }

  static void CheckPlayed(const Value& run, const flow::Played& played, Problems* problems) {
    if (!played.over) problems->push_back({"", "the run does not end"});
    Value response =
        Value::Object({{"status", played.response.status}, {"headers", played.response.headers}});
    if (!played.response.body.is_missing()) response.Set("body", played.response.body);
    Value tasks = Value::EmptyArray();
    for (const Value& call : played.calls.items()) tasks.Append(call["task"]);
    const auto compare = [&](const std::string& key, const auto& got) {
      if (const Value* const expected = run.Find(key)) {
        Compare(*expected, got(*expected), key, problems);
      }
    };
    compare("response", [&](const Value& expected) { return Named(expected, response); });
    compare("model", [&](const Value& expected) { return Named(expected, played.model); });
    compare("order", [&](const Value&) { return tasks; });
    compare("calls", [&](const Value& expected) { return Named(expected, played.calls); });
    compare("sends", [&](const Value& expected) { return Named(expected, played.sends); });
    compare("took", [&](const Value&) { return Value::Unsigned(played.took_ms); });
    if (const Value* const log = run.Find("log")) {
      function::trial::CompareLines(*log, played.log, "log", problems);
    }
  }

  // null: there must be none.
  static Status CheckDocuments(const FlowStage& stage, const Value& run, Problems* problems) {
    for (const json::Field& keyspace : run["documents"].fields()) {
      ASSIGN_OR_RETURN(const auto name, db::KeyspaceName::Parse(keyspace.name()));
      Value expected = Value::EmptyObject();
      Value got = Value::EmptyObject();
      for (const json::Field& document : keyspace.value.fields()) {
        if (!document.value.is_null()) expected.Set(document.name(), document.value);
        ASSIGN_OR_RETURN(Value found, stage.Find(name, std::string(document.name())));
        if (!found.is_missing()) got.Set(document.name(), Named(document.value, found));
      }
      Compare(expected, got, Below("documents", keyspace.name()), problems);
    }
    return OkStatus();
  }

  const cli::AppDirectory& app_;
  const fs::path directory_;
  const std::string file_;
  const std::vector<std::string>& directories_;
  FlowCaseOutcome* const outcome_;
  Value case_;
};

}  // namespace

bool FlowCaseOutcome::passed() const {
  return unusable.empty() &&
         std::ranges::all_of(runs, [](const FlowRunOutcome& run) { return run.problems.empty(); });
}

FlowCaseOutcome RunFlowCase(const cli::AppDirectory& app, const std::string& case_directory,
                            const std::vector<std::string>& directories) {
  FlowCaseOutcome outcome;
  FlowCase(app, case_directory, directories, &outcome).Play();
  return outcome;
}

}  // namespace sluice::server
