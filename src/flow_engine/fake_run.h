// A durable run in a world without threads, database and functions, for tests of its driver: a
// store whose commits a test lets through, fails or refuses, and functions that a test answers.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "flow/compile.h"
#include "flow/run_codec.h"
#include "flow_engine/durable_driver.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {

inline std::shared_ptr<const flow::FlowSet> CompiledFlow(std::string_view text) {
  const flow::FixedSettings settings;
  flow::CompileOptions options;
  options.settings = &settings;
  flow::Problems problems;
  auto flows = flow::CompileFlows({{"f.yml", std::string(text)}}, options, &problems);
  for (const flow::Problem& problem : problems.Sorted()) ADD_FAILURE() << problem.ToString();
  return flows;
}

// Every path may be written, and nothing is there.
class AnyFiles final : public flow::Files {
 public:
  Status Check(Area /*area*/, std::string_view /*path*/) const override { return OkStatus(); }
  Result<std::string> Read(Area /*area*/, std::string_view path) const override {
    return Fail(Code::kNotFound, "file.unreadable", "{}", path);
  }
  Status Write(std::string_view /*path*/, std::string_view /*bytes*/,
               Mode /*mode*/) const override {
    return OkStatus();
  }
  Status Remove(std::string_view /*path*/) const override { return OkStatus(); }
};

// Rows of runs, how often each effect of a function was stored, and how often each file was
// written.
struct FakeStore {
  std::map<std::string, std::string, std::less<>> rows;
  std::map<std::string, int, std::less<>> effects;
  std::map<std::string, int, std::less<>> files;

  std::optional<std::string> Row(const std::string& key) const {
    const auto found = rows.find(key);
    return found == rows.end() ? std::nullopt : std::optional(found->second);
  }
  // As the committer does it.
  bool Apply(const db::Commit& commit) {
    for (const db::RowWrite& row : commit.rows) {
      if (row.expected && Row(row.key) != *row.expected) return false;
    }
    for (const db::RowWrite& row : commit.rows) {
      if (row.family != RunRow("", std::nullopt).family) {
        ++effects[row.key];
      } else if (row.value) {
        rows[row.key] = *row.value;
      } else {
        rows.erase(row.key);
      }
    }
    return true;
  }
  // As StepStore::ResultOf does it.
  StoreResult Refusal(const std::string& run, const StoreRequest& request) const {
    using Kind = StoreResult::Kind;
    const Status conflict = Error(Code::kConflict, "row.changed", "changed");
    const auto present = Row(request.version_before ? LiveKey(run) : HeadKey(run));
    return {present == request.version_before ? Kind::kRefused : Kind::kLost, conflict};
  }
};

// A process that has the run.
class FakeProcess final : public StepObserver, public StepFiles {
 public:
  struct Submitted {
    StoreRequest request;
    std::optional<StoreResult> result;
  };

  FakeProcess(std::string id, std::shared_ptr<const flow::FlowSet> flows, FakeStore* store,
              uint64_t writer)
      : id_(std::move(id)), flows_(std::move(flows)), store_(store), options_{.writer = writer} {}

  void Start(const std::string& flow, json::Value input, uint64_t now_ms) {
    RunHead head;
    head.id = id_;
    head.flow = flow;
    driver = std::make_unique<DurableDriver>(flow::Run(flows_, &any_files_), head, options_, *this,
                                             *this);
    flow::Start start;
    start.flow = flow;
    start.run = id_;
    start.input = std::move(input);
    Take(driver->OnEvent({.event = std::move(start)}, {.wall_ms = now_ms}));
  }

  // False: the run is not stored, or has ended.
  bool Resume(uint64_t now_ms) {
    const auto version = store_->Row(LiveKey(id_));
    if (!version) return false;
    if (const auto files = store_->Row(FilesKey(id_))) {
      Write(*DecodeFiles(*files));
      store_->rows.erase(FilesKey(id_));
    }
    StoredRun stored{.head = *DecodeHead(id_, *store_->Row(HeadKey(id_))),
                     .machine = *DecodeMachine(*store_->Row(MachineKey(id_))),
                     .version = *version};
    auto run = flow::DecodeRun(*json::Parse(stored.machine.text), flows_, &any_files_);
    EXPECT_TRUE(run.has_value());
    driver =
        std::make_unique<DurableDriver>(std::move(*run), std::move(stored), options_, *this, *this);
    Take(driver->Resume({}, {.wall_ms = now_ms}));
    return true;
  }

  void Take(Outcome outcome) {
    for (StoreRequest& request : outcome.commits) {
      submitted.push_back({std::move(request), std::nullopt});
    }
    for (flow::Action& action : outcome.actions) {
      if (auto* call = std::get_if<flow::Call>(&action)) calls.push_back(std::move(*call));
      if (auto* ended = std::get_if<flow::Ended>(&action)) ends.push_back(*ended);
      if (auto* respond = std::get_if<flow::Respond>(&action)) answers.push_back(*respond);
    }
    for (CallAgain& again : outcome.call_again) calls.push_back(std::move(again.call));
    if (outcome.lost) lost = true;
  }

  // The function `name` answers with its name and input; one whose name begins with "write" has an
  // effect.
  void Answer(size_t index, uint64_t now_ms) {
    const flow::Call call = calls.at(index);
    calls.erase(calls.begin() + static_cast<int64_t>(index));
    ++times_called[std::string(call.route)];
    auto answered = std::make_unique<AnsweredCall>(AnsweredCall{call, 1, true});
    const std::string effect = std::string(call.route) + json::ToText(call.body);
    if (call.route.starts_with("write")) {
      answered->writes.rows.push_back(
          {db::RowFamily::kFailure, std::nullopt, effect, "1", std::nullopt});
    }
    Take(driver->OnEvent({.event = flow::TaskResult{call.call, 200, {}, json::Value(effect)},
                          .answered = std::move(answered)},
                         {.wall_ms = now_ms}));
  }

  void Tick(uint64_t now_ms) {
    Take(driver->OnEvent({.event = flow::Tick{}}, {.wall_ms = now_ms}));
  }
  void Deliver(size_t index, uint64_t now_ms) {
    const Submitted commit = std::move(submitted.at(index));
    submitted.erase(submitted.begin() + static_cast<int64_t>(index));
    Take(driver->OnStored(commit.request.number, *commit.result, {.wall_ms = now_ms}));
  }
  // Lets the database store everything, as it comes.
  void StoreAll(uint64_t now_ms) {
    while (!submitted.empty()) {
      Submitted& first = submitted.front();
      const bool applied = store_->Apply(first.request.commit);
      first.result = applied ? StoreResult{} : store_->Refusal(id_, first.request);
      Deliver(0, now_ms);
    }
  }

  void OnStep(const flow::Run& /*run*/, const flow::Actions& /*actions*/, size_t ended_tasks,
              RunTime /*now*/) override {
    steps += ended_tasks;
  }
  void Write(const std::vector<StepFile>& files) override {
    for (const StepFile& file : files) ++store_->files[file.path];
  }

  std::unique_ptr<DurableDriver> driver;
  std::deque<Submitted> submitted;
  std::deque<flow::Call> calls;  // of functions that were not answered
  std::vector<flow::Ended> ends;
  std::vector<flow::Respond> answers;
  std::map<std::string, int> times_called;
  size_t steps = 0;
  bool lost = false;

 private:
  const std::string id_;
  const std::shared_ptr<const flow::FlowSet> flows_;
  FakeStore* const store_;
  const DurableOptions options_;
  const AnyFiles any_files_;
};

}  // namespace sluice::flow_engine
