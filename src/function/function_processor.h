// Runs a function's handlers for events, in an isolate of its own. A follow::LaneWorker or a
// debugger gives it the events.
//
// If a handler throws, or if the commit of its writes is refused because of what they are, the
// event's writes are dropped and the event is kept as a failure. That is one commit with the move
// of the cursor or the end of the timer. A retry ends in the same way. The effects belong to the
// shard of the events.
//
// Concurrency: one thread at a time, except RequestStop and LetGo.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "failure/failure_list.h"
#include "follow/failure_policy.h"
#include "follow/processor.h"
#include "function/event.h"
#include "function/failed_event.h"
#include "function/handler.h"
#include "function/held_log.h"
#include "function/statistics.h"
#include "timer/scheduler.h"

namespace sluice::function {

// Shared by all processors of a function. All that it refers to outlives them.
struct ProcessorContext {
  const Services& services;
  timer::Scheduler& timers;
  failure::FailureList& failures;
  std::shared_ptr<const Definition> definition;
  Prepared prepared;
  std::string follower;  // also the owner of the timers
  Statistics& statistics;
  FunctionLog& log;
  Insight& insight;
  std::shared_ptr<js::Inspector> inspector = nullptr;  // of a debugger, if there is one
};

class FunctionProcessor final : public follow::Processor, public follow::FailurePolicy {
 public:
  explicit FunctionProcessor(ProcessorContext context);

  // Loads the code, unless it is loaded already.
  Status Load();
  Handler& handler() { return *handler_; }  // after Load
  bool stopping() const { return stop_->load(); }
  // Drops the effects, log lines and counts of a batch that is not committed.
  void Drop();

  void Begin() override;
  Result<Ran> Run(const follow::Event& event, Place place) override;
  void End() override { turn_.reset(); }
  bool full() const override { return effects_->full() || log_.full(); }
  bool spoiled() const override { return spoiled_; }
  db::Commit TakeCommit() override;
  void Committed(std::span<const follow::EventPtr> events) override;
  void Refused(const Status& status) override;
  void LetGo(std::span<const follow::EventPtr> events) override;
  void Rest() override { handler_.reset(); }
  void RequestStop() override { *stop_ = true; }
  void ForgetStop() override;

  follow::Verdict OnTrouble(follow::Trouble trouble, const Status& status) override;

 private:
  Status RunOne(const Event& event);
  Status RunChange(const Event& event);
  Status RunTimer(const Event& event);
  // Calls the handler. Returns its problem, if it failed; then its effects are undone.
  using Attempted = Result<std::optional<failure::Problem>>;
  Attempted Try(const Event& event);
  Attempted Try(const timer::Timer& timer);
  Attempted Ended(const Effects::Savepoint& savepoint, const script::Outcome& outcome);
  void Log(std::string_view what, const failure::Problem& problem);
  void Count(const Effects::Counts& counts);

  // function_processor_failures.cc
  Status RunRetry(const Event& event);
  Attempted TryAgain(const failure::WriteSet::Taken& taken, std::string* what);
  failure::Problem ProblemOf(const script::Outcome& outcome) const;
  Status Keep(const std::string& key, FailedEvent event, failure::Problem problem);
  std::optional<uint64_t> NextTryMs(const failure::Problem& problem, uint32_t attempts);
  void FailuresCommitted();

  const ProcessorContext context_;
  const script::StopFlag stop_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<Handler> handler_;
  UnderWay::Slot under_way_;
  Random random_;
  // Why the commit of the first event was refused. If set, the event fails without a call.
  std::optional<failure::Problem> refused_;

  // State of the batch.
  HeldLog log_;
  HeldInsight insight_;
  db::ShardId shard_ = 0;
  std::optional<Handler::Turn> turn_;  // until the isolate is spent or the batch ends
  std::optional<Effects> effects_;
  bool spoiled_ = false;  // the effects have parts of a run that was ended
  std::optional<uint64_t> earliest_timer_ms_;
  std::optional<uint64_t> earliest_retry_ms_;
};

}  // namespace sluice::function
