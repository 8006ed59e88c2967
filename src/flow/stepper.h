// One step of a run: the rules of run.h's state machine. A Stepper lives for one event.
//
// Starting a task or delivering a result can end frames and calls, which moves the elements of the
// state's vectors. So no method keeps a pointer into them across such a call: it looks the id up
// again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flow/mapping.h"
#include "flow/run.h"

namespace sluice::flow {

class Stepper {
 public:
  Stepper(Run* run, uint64_t now_ms, Actions* actions)
      : run_(*run), state_(run->state_), now_ms_(now_ms), actions_(actions) {}

  void On(Start event);
  void On(TaskResult event);
  void On(Tick) {}
  void On(const Cancel& event);

  // Everything whose time has come, in order of time.
  void FireDue();
  // Ends frames in which nothing can happen any more, then the run when no frame is left.
  void Finish();

 private:
  // Counts how many tasks are being started inside each other.
  class ChainLink {
   public:
    explicit ChainLink(int* count) : count_(count) { ++*count_; }
    ~ChainLink() { --*count_; }
    ChainLink(const ChainLink&) = delete;
    ChainLink& operator=(const ChainLink&) = delete;

   private:
    int* const count_;
  };

  Frame* FindFrame(uint64_t id);
  Group* FindGroup(uint64_t id);
  PendingCall* FindCall(uint64_t id);
  PendingCall TakeCall(PendingCall* call);
  const Task& TaskOf(const Group& group);

  // Answers without having started.
  void Refuse(int status, std::string message);

  // Frames (stepper.cc).
  void StartFrame(const Flow& flow, json::Value input, uint64_t ttl_ms, const PendingCall* caller,
                  bool caller_waits = true);
  void StartSubflow(uint64_t call_id);
  void RespondFrame(uint64_t frame_id, int status, json::Value headers, json::Value body);
  // Whether the tasks of an ending frame run on or are stopped.
  enum class Tasks : uint8_t { kRun, kStop };
  void AbortFrame(uint64_t frame_id, int status, const json::Value& message,
                  Tasks tasks = Tasks::kRun);
  void EndFrame(uint64_t frame_id, Tasks tasks);
  void EraseFrame(uint64_t frame_id);
  void GiveUpRest(const Frame& frame);

  // Tasks (stepper.cc).
  void StartTask(uint64_t frame_id, TaskIndex index, Line line);
  void Dispatch(uint64_t call_id);
  uint64_t DelayOf(const Task& task, const Frame& frame, const Line& line);
  bool RunTaskMappings(const std::vector<Mapping>& mappings, const TaskResult* result, Frame* frame,
                       const Line& line, Mapped* mapped);
  void SendExternals(const Frame& frame, std::vector<Mapped::External> externals);
  void Log(const Flow& flow, log::Level level, std::string message);
  void AbandonCall(const PendingCall& call);

  // Delivers a result and runs the tasks that follow (transition.cc).
  void Deliver(PendingCall call, TaskResult result);
  void PassOver(const PendingCall& call, const TaskResult& result);
  void Succeed(PendingCall call, const TaskResult& result);
  void Fail(PendingCall call, const TaskResult& result);
  void Follow(uint64_t frame_id, TaskIndex index, Line line, Mapped mapped);
  void Decide(uint64_t frame_id, const Task& task, Line line, const json::Value& decision);
  void StartAll(uint64_t frame_id, const Task& task, const Line& line);
  void StartFork(uint64_t frame_id, TaskIndex index, Line line);
  void StartPipeline(uint64_t frame_id, TaskIndex index, Line line);

  // Forks and pipelines (transition.cc).
  bool IsMember(const Group& group, TaskIndex task);
  void MemberDone(uint64_t group_id);
  void StepDone(Group* group);
  void NextRound(Group* group);
  void RunStep(const Group& group);
  void FinishGroup(uint64_t group_id);
  bool LoopGoesOn(const Loop& loop, const Frame& frame);
  Line LeaveGroup(Line line, TaskIndex going_to);

  ModelView View(const Frame& frame) { return {.model = &frame.model, .shared = &state_.shared}; }
  // In a branch of a fork over a list, too.
  ModelView View(const Frame& frame, const Line& line);

  Run& run_;
  RunState& state_;
  const uint64_t now_ms_;
  Actions* const actions_;
  int chain_ = 0;
  uint64_t hold_ms_ = 0;  // TaskResult::hold_next_ms of the result that is being followed
};

// {"type":"error","status":S,"message":M}
json::Value ErrorBody(int status, const json::Value& message);

}  // namespace sluice::flow
