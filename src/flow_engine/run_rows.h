// Rows of durable runs: family `run` (docs/formats/runs.md). All rows of a run belong to the shard
// of its id (db::ShardOfKey), and those of an app to that of definitions.
//
//   head      what lists show; written when a run starts and when it ends
//   machine   the run between two steps (flow/run_codec.h)
//   input     what a run was started with, if that is large: then it is not in the machine
//   step      a task that is over: what it got and gave, and the machine before it was over
//   live      a run that has not ended, which goes on when the server starts: its version
//   files     files that the last step writes, until they are written
//   app       files of an app that runs need
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/commit.h"
#include "flow/files.h"
#include "flow/run.h"
#include "json/value.h"

namespace sluice::flow_engine {

enum class RunPhase : uint8_t { kRunning, kCompleted, kFailed, kCancelled };
std::string_view PhaseName(RunPhase phase);
std::optional<RunPhase> PhaseOf(std::string_view name);

struct RunHead {
  std::string id;
  std::string flow;
  std::string app;     // the version of the app that it runs with
  std::string origin;  // what started it: rest, command, change, schedule, call
  std::string cid;
  std::string trace;
  RunPhase phase = RunPhase::kRunning;
  uint64_t created_ms = 0;
  uint64_t ended_ms = 0;  // 0 while it runs
  int status = 0;         // of the answer, or of why it was aborted; once it ended
  std::string message;    // why it was aborted
  uint32_t steps = 0;     // once it ended
  uint32_t retries = 0;   // how often it was set back
};

// A run between two steps.
struct RunMachine {
  uint32_t next_step = 1;
  uint64_t at_ms = 0;  // when it came to be
  std::string text;    // JSON of EncodeRun
};

// A file that a step writes (flow::WriteFile).
struct StepFile {
  std::string flow;  // the id of the flow that says so
  std::string path;
  std::optional<std::string> bytes;  // none: the file is removed
  flow::Files::Mode mode = flow::Files::Mode::kReplace;
  // Where bytes are appended, once that is decided.
  std::optional<uint64_t> at = std::nullopt;

  bool operator==(const StepFile&) const = default;
};

// A run as it is stored.
struct StoredRun {
  RunHead head;
  RunMachine machine;
  json::Value input = {};    // missing: the machine has it
  std::string version = {};  // the live row
};

enum class StepEnd : uint8_t { kDone, kFailed, kTimedOut, kAbandoned };
std::string_view StepEndName(StepEnd end);

// A task that is over.
struct RunStep {
  uint32_t number = 0;
  std::string flow;
  std::string task;
  std::string route;
  StepEnd end = StepEnd::kDone;
  uint64_t sent_ms = 0;  // when it was to be called; 0 when it never was
  uint64_t ended_ms = 0;
  uint64_t ran_us = 0;  // the function itself
  json::Value headers;
  json::Value input;
  int status = 0;  // 0: there was no answer
  json::Value output_headers;
  json::Value output;
  std::string stack;
};

// What a run was started with is stored with each step, unless it has more text than this.
inline constexpr size_t kMostInputInMachine = 1024;
// Values with more text than this are left out of steps.
inline constexpr size_t kMaxStepValueBytes = 64ull << 10;
// A machine that is larger is not kept with a step, which then can't be retried.
inline constexpr size_t kMaxKeptMachineBytes = 256ull << 10;
// The last steps of a run are kept.
inline constexpr uint32_t kMaxKeptSteps = 1000;

std::string HeadKey(std::string_view id);
std::string InputKey(std::string_view id);
std::string MachineKey(std::string_view id);
std::string StepPrefix(std::string_view id);
std::string StepKey(std::string_view id, uint32_t number);
std::string LiveKey(std::string_view id);
std::string FilesKey(std::string_view id);
std::string AppKey(std::string_view version);
inline constexpr std::string_view kHeadPrefix = "h";
inline constexpr std::string_view kInputPrefix = "i";
inline constexpr std::string_view kLivePrefix = "l";
inline constexpr std::string_view kFilesPrefix = "f";
inline constexpr std::string_view kAppPrefix = "a";

// The value of a live row: every commit of the run changes it, and expects the one that the writer
// knows. `writer` tells two owners of one run apart.
std::string EncodeVersion(uint64_t writer, uint64_t number);
// A row of the family, in the shard of its commit; `expected` as in db::RowWrite.
db::RowWrite RunRow(std::string key, std::optional<std::string> value,
                    std::optional<std::optional<std::string>> expected = std::nullopt);

std::string EncodeHead(const RunHead& head);
Result<RunHead> DecodeHead(std::string_view id, std::string_view stored);
std::string EncodeInput(const json::Value& input);
Result<json::Value> DecodeInput(std::string_view stored);
std::string EncodeMachine(const RunMachine& machine);
Result<RunMachine> DecodeMachine(std::string_view stored);
std::string EncodeFiles(const std::vector<StepFile>& files);
Result<std::vector<StepFile>> DecodeFiles(std::string_view stored);
// `before` is kept unless it is too large.
std::string EncodeStep(const RunStep& step, const RunMachine& before);
struct StoredStep {
  json::Value view;  // as people see it
  std::optional<RunMachine> before;
};
Result<StoredStep> DecodeStep(std::string_view stored);

// As people see it.
json::Value ViewOf(const RunHead& head);

}  // namespace sluice::flow_engine
