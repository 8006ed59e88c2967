// A compiled flow: immutable and shared by all its runs. Names of tasks are indexes, and mappings
// are operations, so that a run parses no text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "flow/cron.h"
#include "flow/mapping.h"
#include "flow/path.h"

namespace sluice::flow {

// The prefix of a task's `process` that names a sub-flow.
inline constexpr std::string_view kFlowScheme = "flow://";

using TaskIndex = int32_t;
inline constexpr TaskIndex kNoTask = -1;
inline constexpr TaskIndex kRetryTask = -2;  // `@retry`: the task that failed

enum class Execution : uint8_t {
  kDecision,
  kResponse,
  kEnd,
  kSequential,
  kParallel,
  kPipeline,
  kFork,
  kSink,
};
std::string_view ExecutionName(Execution execution);

// `for (model.n = 0; model.n < 3; model.n++)` or `while (model.running)`, and the conditions that
// leave the loop early.
struct Loop {
  enum class Kind : uint8_t { kNone, kFor, kWhile };
  enum class Compare : uint8_t { kLess, kLessEqual, kMore, kMoreEqual };
  enum class Act : uint8_t { kBreak, kContinue };
  struct Operand {
    std::optional<ModelRef> ref;  // else the number
    int64_t number = 0;
  };
  struct Condition {
    ModelRef ref;
    Act act = Act::kBreak;
  };

  Kind kind = Kind::kNone;
  std::string text;                   // as it is written
  std::optional<ModelRef> start_ref;  // of a for-loop with three parts
  int64_t start = 0;
  Operand left;
  Compare compare = Compare::kLess;
  Operand right;
  ModelRef counter;  // the variable that is counted up or down
  int64_t delta = 1;
  ModelRef running;  // of a while-loop
  std::vector<Condition> conditions;
};

// How the results of the input mappings become the dataset of a sub-flow.
enum class SubflowInput : uint8_t {
  kDataset,  // only `body` and headers were mapped: that is the dataset
  kBody,     // anything else is the body of the dataset
};

struct Task {
  std::string name;
  std::string route;  // the function's; of a sub-flow `flow://id`
  std::string description;
  Place place;
  Execution execution = Execution::kEnd;
  std::vector<Mapping> input;
  std::vector<Mapping> output;
  std::vector<TaskIndex> next;         // kRetryTask may be first
  TaskIndex retry_fallback = kNoTask;  // of `@retry | task`
  std::vector<TaskIndex> pipeline;
  TaskIndex join = kNoTask;
  TaskIndex exception = kNoTask;
  Loop loop;
  uint64_t delay_ms = 0;
  std::optional<ModelRef> delay_ref;
  std::optional<ModelRef> source;  // of a fork over a list
  uint64_t ttl_ms = 0;             // of this task alone; 0 for none
  std::string subflow;             // the id; empty for a function
  SubflowInput subflow_input = SubflowInput::kDataset;

  bool is_subflow() const { return !subflow.empty(); }
};

// The changes and times that start runs of a flow.
struct AutoStart {
  std::string on;            // a keyspace: its changes; empty for none
  std::string filter;        // of these, SQL++ over operation, key, before and after
  std::optional<Cron> cron;  // a schedule
  uint64_t every_ms = 0;     // another one; 0 for none
  std::string schedule;      // its text
  Place place;

  bool scheduled() const { return cron.has_value() || every_ms != 0; }
};

struct Flow {
  std::string id;
  std::string description;
  Place place;
  uint64_t ttl_ms = 0;
  bool durable = false;
  AutoStart start;
  std::string external_route;          // external.state.machine; empty for none
  std::vector<std::string> listeners;  // routes and `flow://id` that are called at a run's end
  TaskIndex first = kNoTask;
  TaskIndex exception = kNoTask;
  std::vector<Task> tasks;

  TaskIndex Find(std::string_view task_name) const;  // kNoTask when there is none
};

// Flows that were loaded together. A run holds on to the set that it began with.
class FlowSet {
 public:
  FlowSet() = default;
  explicit FlowSet(std::vector<std::shared_ptr<const Flow>> flows);

  const Flow* Find(std::string_view id) const;  // nullptr when there is none
  const std::map<std::string, std::shared_ptr<const Flow>, std::less<>>& flows() const {
    return flows_;
  }

 private:
  std::map<std::string, std::shared_ptr<const Flow>, std::less<>> flows_;
};

}  // namespace sluice::flow
