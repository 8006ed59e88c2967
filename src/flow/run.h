// A flow instance as a state machine: Run::Step takes an event and appends the actions that follow
// from it. It changes nothing but the run, waits for nothing and knows no thread; all that it reads
// from outside are files that mappings name. Its driver calls the functions, keeps time, writes
// files and sends the answer.
//
//   Run run(flows, services);
//   Actions actions;
//   run.Step(Start{...}, now_ms, &actions);
//   for (Action& action : actions) ...          // Call -> later Step(TaskResult{...})
//   at run.next_due_ms(): run.Step(Tick{}, now_ms, &actions);
//
// Sub-flows run inside the same Run, each as a frame of its own: one state to store, one budget of
// time, one `model.parent`. After every Step the state can be encoded (run_codec.h), and the
// decoded copy continues elsewhere.
//
// Thread: one at a time. Copies share what they have not changed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/log.h"
#include "flow/files.h"
#include "flow/plan.h"
#include "json/value.h"

namespace sluice::flow {

inline constexpr size_t kMaxFrames = 1000;      // flow instances in one run
inline constexpr int kMaxFlowDepth = 16;        // sub-flows inside each other
inline constexpr size_t kMaxBranches = 10'000;  // of one fork
inline constexpr int kMaxChain = 100;           // tasks that start each other within one step
inline constexpr size_t kMaxCalls = 20'000;     // that wait at once in one run

// Events.

struct Start {
  std::string flow;     // id
  json::Value input;    // the dataset: body, header, path_parameter, ...
  std::string run;      // model.instance; unique
  std::string cid;      // model.cid: the correlation id of the request
  std::string trace;    // model.trace; empty when not traced
  uint64_t ttl_ms = 0;  // instead of flow.ttl; 0 for that
};

// How a call went. A status of 400 and more is a failure, whose message is the body.
struct TaskResult {
  uint64_t call = 0;
  int status = 200;
  json::Value headers;
  json::Value body;
  std::string stack = {};  // of a failure
  // The tasks that follow are sent this much later, as if they had such a delay.
  uint64_t hold_next_ms = 0;
};

// Time has come: delays, limits of tasks, limits of flows.
struct Tick {};

// Ends the run and everything in it.
struct Cancel {
  int status = 503;
  std::string message = "Flow cancelled";
};

using Event = std::variant<Start, TaskResult, Tick, Cancel>;

// Actions. Texts that are views live as long as the run's flows.

// The driver runs the function of the route and answers with a TaskResult of the same call. The
// machine ignores an answer that comes too late.
struct Call {
  uint64_t call = 0;
  std::string_view flow;
  std::string_view task;
  std::string_view route;
  json::Value headers;  // an object of texts
  json::Value body;
  uint64_t due_ms = 0;  // after this time the machine ignores the answer
  uint64_t frame = 0;   // the flow instance that calls
};

// A task that is a sub-flow has begun, and has been answered; for traces.
struct SubflowBegan {
  uint64_t call = 0;
  std::string_view flow;
  std::string_view task;
  std::string_view route;
  uint64_t frame = 0;  // the flow instance that calls
  uint64_t child = 0;  // and the one that it calls
};
struct SubflowEnded {
  uint64_t call = 0;
  int status = 200;
  json::Value headers;
  json::Value body;
};

// The machine no longer waits for this call: the driver may stop it.
struct Abandon {
  uint64_t call = 0;
};

// Tell something to a route, or start `flow://id`, without an answer: the external state machine.
struct Send {
  std::string_view route;
  json::Value headers;
  json::Value body;  // of a flow: the dataset
};

// The answer to the starter of the run; at most once in a run.
struct Respond {
  int status = 200;
  json::Value headers;
  json::Value body;
};

// A file is to be written, or removed. The driver does it when the step is taken, before anything
// else follows from the step.
struct WriteFile {
  std::string_view flow;  // the id of the flow whose mapping says so
  std::string path;
  std::optional<std::string> bytes;  // none: the file is removed
  Files::Mode mode = Files::Mode::kReplace;
};

struct LogLine {
  std::string_view flow;  // its id
  log::Level level = log::Level::kError;
  std::string message;
};

// Nothing is left to do. The last action of a run.
struct Ended {
  int status = 200;     // of the root flow; 400 and more when it was aborted
  std::string message;  // why it was aborted
};

using Action = std::variant<Call, SubflowBegan, SubflowEnded, Abandon, Send, Respond, WriteFile,
                            LogLine, Ended>;
using Actions = std::vector<Action>;

// The state.

// A line of control: how a task came to run. A result is delivered along its line, for example back
// to the fork that started the branch.
struct Line {
  uint64_t group = 0;          // the fork or pipeline it belongs to; 0 for none
  int64_t index = -1;          // of a fork over a list: which element
  json::Value item;            // and its value
  json::Value error;           // the error, for a handler; missing without one
  TaskIndex failed = kNoTask;  // and where
};

// A fork that waits for its branches, or a pipeline that goes through its steps.
struct Group {
  uint64_t id = 0;
  uint64_t frame = 0;
  TaskIndex task = kNoTask;
  Line outer;           // the line that continues when the group is done
  size_t expected = 0;  // branches
  size_t done = 0;
  size_t step = 0;  // of a pipeline
};

struct PendingCall {
  uint64_t id = 0;
  uint64_t frame = 0;
  TaskIndex task = kNoTask;
  Line line;
  json::Value headers;
  json::Value body;
  uint64_t send_ms = 0;  // when to send it; 0 when it was sent
  uint64_t due_ms = 0;   // when to give up; 0 for never
  uint64_t child = 0;    // the frame of a sub-flow; 0 for a function
};

// One flow instance.
struct Frame {
  uint64_t id = 0;
  const Flow* flow = nullptr;
  json::Value input;
  json::Value model;
  uint64_t ttl_ms = 0;
  uint64_t due_ms = 0;
  int depth = 0;
  bool responded = false;
  // The flow has ended. Tasks that were begun before still run, and their answers are ignored; the
  // frame is removed when they have ended.
  bool over = false;
  uint64_t caller = 0;  // the call that waits for its answer; 0 for none
};

struct RunState {
  json::Value shared = json::Value::EmptyObject();  // model.parent, model.root
  std::string run;
  std::string cid;
  std::string trace;
  std::vector<Frame> frames;
  std::vector<Group> groups;
  std::vector<PendingCall> calls;
  uint64_t last_id = 0;
  uint64_t root = 0;  // its frame
  bool started = false;
  bool ended = false;
  int status = 200;
  std::string message;
};

class Run {
 public:
  // With nullptr as `files` the run has no files. `files`, and everything that `flows` was compiled
  // with, must outlive the run.
  Run(std::shared_ptr<const FlowSet> flows, const Files* files);

  // Wall time must not go back between steps.
  void Step(Event event, uint64_t now_ms, Actions* actions);

  bool ended() const { return state_.ended; }
  // When to step with Tick at the latest; nothing when there is nothing to wait for.
  std::optional<uint64_t> next_due_ms() const;
  // The calls that were sent and not answered, to send them again after a restart.
  std::vector<Call> OpenCalls() const;
  // Moves all due times of the run, for a stored run that continues later. A negative number moves
  // them back.
  void Postpone(int64_t by_ms);
  // The root's model while it runs, its last one after.
  const json::Value& model() const;
  const RunState& state() const { return state_; }
  const FlowSet& flows() const { return *flows_; }

 private:
  friend class Stepper;
  friend class RunCodec;

  std::shared_ptr<const FlowSet> flows_;
  const Files* files_;
  RunState state_;
  json::Value last_model_;
};

}  // namespace sluice::flow
