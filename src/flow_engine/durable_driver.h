// Drives a durable run: each step is stored before others see anything of it, exactly once.
//
//   state       what it means
//   kTaking     It takes events. Commits that nothing waits for may be on their way.
//   kHolding    The same, and steps that only answer wait for the next commit, 50 ms at most.
//   kStoring    A commit is on its way that the run waits for. Events wait.
//   kRepairing  A commit failed. Events wait until all is stored again, after a pause.
//   kGone       The run has ended, is parked, or another owner has it. Events are passed over.
//
//   from                what happens                       to          what follows
//   kTaking, kHolding   a step that only answers           kHolding    its call, now
//   kTaking, kHolding   a step that can't be refused       kTaking     commit; its calls now
//   kTaking, kHolding   a step that can be refused         kStoring    commit
//   kHolding            50 ms are over, the thread leaves  kTaking     commit of held steps
//   kStoring            stored                             kTaking     the step's actions
//   kStoring            a conflict of the writes           kTaking     the function again
//   kStoring            the writes are rejected            kTaking     the task has failed
//   all but kGone       another commit fails               kRepairing
//   kRepairing          the pause is over                  kStoring    commit of all steps
//   all but kGone       the run has another owner          kGone       Outcome::lost
//   all but kGone       the end is stored, or it parks     kGone
//
// Held steps are stored by a commit of their own before one that can be refused. What follows from
// a step besides its calls waits until its commit is stored.
//
// A step with writes of a function can be refused, because of conditions of these writes, so the
// run waits for its commit. It also waits if the step writes files, which must not exist before the
// commit, or if the event asks for that. All other steps change rows of the run alone. Nobody but
// another owner of the run changes these, and commits of a shard are stored in order; so what
// follows may begin before they are stored, as long as nobody sees it: a function whose step is
// refused later has only answered, or its writes are refused, too.
//
// Every commit replaces the version of the run (run_rows.h) and expects the one before it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "flow_engine/planned_step.h"
#include "flow_engine/run_driver.h"

namespace sluice::flow_engine {

inline constexpr uint64_t kHoldMs = 50;          // a step that only answers is held back
inline constexpr uint64_t kRepairPauseMs = 100;  // before a commit that failed is made again

struct DurableOptions {
  uint64_t writer = 0;  // tells this driver from all others that have the run, at any time
  // The id was made for this run. One that others know may belong to a run that is stored already.
  bool new_id = false;
};

class DurableDriver final : public RunDriver {
 public:
  enum class State : uint8_t { kTaking, kHolding, kStoring, kRepairing, kGone };

  // A run that is about to start: the first event is a flow::Start. `observer` and `files` outlive
  // the driver.
  DurableDriver(flow::Run run, RunHead head, DurableOptions options, StepObserver& observer,
                StepFiles& files);
  // A run that goes on; the machine in `run` is that of `stored`. The first call is Resume.
  DurableDriver(flow::Run run, StoredRun stored, DurableOptions options, StepObserver& observer,
                StepFiles& files);

  // Makes the open calls again, except those in `given_up`.
  Outcome Resume(const std::set<uint64_t>& given_up, RunTime now);

  Outcome OnEvent(RunEvent&& event, RunTime now) override;
  Outcome OnStored(uint64_t number, StoreResult result, RunTime now) override;
  Outcome OnIdle(RunTime now) override;
  std::optional<uint64_t> due_ms() const override;
  bool gone() const override { return state_ == State::kGone || at_.run.ended(); }
  uint64_t stepped_ms() const override { return stepped_ms_; }
  const flow::Run& run() const override { return at_.run; }

  // All of it is stored, and it waits for nothing but a time after `after_ms`.
  bool CanPark(uint64_t after_ms) const;
  // It leaves the memory.
  void Park() { state_ = State::kGone; }
  // It goes on elsewhere, from what is stored. Results of commits on their way are passed over.
  void Leave();
  bool is_stored() const { return stored_version_.has_value(); }

  State state() const { return state_; }
  const RunHead& head() const { return at_.head; }

 private:
  // A step that is taken when it is stored.
  struct AwaitedStep {
    RunEvent event;
    PlannedStep step;
    bool has_writes = false;  // of a function
  };
  // A commit on its way.
  struct InFlight {
    uint64_t number = 0;
    std::optional<std::string> version_after;
    std::vector<db::RowWrite> task_rows;   // of steps that are taken, to store them again
    flow::Actions then;                    // when it is stored
    std::unique_ptr<AwaitedStep> awaited;  // null: its steps are taken
    std::optional<StoreResult> result;     // those before it have none yet
  };

  void TakeEvents(RunTime now, Outcome* outcome);
  bool IsLate(const RunEvent& event) const;
  bool MustBeStoredFirst(const RunEvent& event, const PlannedStep& step) const;
  static bool OnlyAnswers(const RunEvent& event, const PlannedStep& step);
  // The run is where the step leads to. Its actions are added to `actions`.
  void TakeStep(PlannedStep step, RunTime now, flow::Actions* actions);

  void StoreTaken(flow::Actions then, Outcome* outcome);
  void StoreFirst(RunEvent event, PlannedStep step, Outcome* outcome);
  // The rows of the run after a step, and its version.
  void AddRunRows(const RunHead& head, const RunMachine& machine, const json::Value& input,
                  StoreRequest* request);

  void Settle(InFlight commit, RunTime now, Outcome* outcome);
  void OnCommitStored(InFlight commit, RunTime now, Outcome* outcome);
  void OnWritesRefused(AwaitedStep awaited, const Status& status, Outcome* outcome);
  // Keeps what a commit that is not stored was to do.
  void OnCommitFailed(InFlight commit, RunTime now, Outcome* outcome);
  void Repair(RunTime now, Outcome* outcome);
  // A row keeps the files until they are written.
  void WriteFiles(const std::vector<StepFile>& files, Outcome* outcome);
  void Lose(Outcome* outcome);

  const DurableOptions options_;
  StepObserver& observer_;
  StepFiles& files_;
  DurableState at_;
  State state_ = State::kTaking;
  uint64_t stepped_ms_ = 0;
  std::deque<RunEvent> waiting_;
  std::vector<flow::Call> open_calls_;  // to be made again with the first step
  std::map<uint64_t, int> attempts_;    // of calls whose writes met conflicts, by call

  std::vector<db::RowWrite> held_rows_;  // of steps that are taken and in no commit
  uint64_t hold_until_ms_ = 0;
  std::vector<InFlight> in_flight_;
  uint64_t last_number_ = 0;

  std::optional<std::string> version_;         // after all commits on their way; none: not begun
  std::optional<std::string> stored_version_;  // none: nothing is stored
  bool may_be_begun_;  // the first commit has to look whether there is such a run

  uint64_t repair_at_ms_ = 0;
  bool unstored_steps_ = false;  // steps were taken that the next repair has to store
  std::vector<db::RowWrite> unstored_rows_;
  flow::Actions after_repair_;
};

}  // namespace sluice::flow_engine
