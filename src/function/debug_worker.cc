#include "function/debug_worker.h"

#include <utility>

namespace sluice::function {
namespace {

// A debugger without a client ends after this time, so that the event that it has is not kept for
// ever.
constexpr std::chrono::minutes kForgottenAfter(10);

}  // namespace

// --- the trap -----------------------------------------------------------------------------------

// The inspector has a lock of its own, so that the slot's can't be held meanwhile. If the client
// leaves in between, the DebugWorker gives the event back.
bool Trap::Take(follow::EventPtr& event, follow::LaneWorker& from) {
  if (!open_.load(std::memory_order_relaxed)) return false;
  const std::shared_ptr<js::Inspector> inspector = slot_.Lock()->inspector;
  if (inspector == nullptr) return false;
  const js::Inspector::State state = inspector->state();
  if (state.had_client && !state.connected) return false;
  {
    const auto slot = slot_.Lock();
    if (slot->inspector != inspector || slot->from != nullptr) return false;
    slot->shard = event->shard;
    slot->event = std::move(event);
    slot->from = &from;
  }
  inspector->Wake();
  return true;
}

void Trap::Open(std::shared_ptr<js::Inspector> inspector) {
  slot_.Lock()->inspector = std::move(inspector);
  open_ = true;
}

void Trap::Close() {
  open_ = false;
  std::shared_ptr<js::Inspector> inspector;  // ends after the lock is released
  slot_.Lock()->inspector.swap(inspector);
}

void Trap::Return(follow::EventPtr event) {
  follow::LaneWorker* const from = std::exchange(slot_.Lock()->from, nullptr);
  from->GiveBack(std::move(event));
}

// --- the worker ---------------------------------------------------------------------------------

DebugWorker::DebugWorker(ProcessorContext context, Trap& trap, follow::CommitSink& sink,
                         const follow::ParallelFollower& follower)
    : inspector_(*context.inspector),
      function_log_(context.log),
      trap_(trap),
      follower_(follower),
      processor_(context),
      runner_({.processor = processor_,
               .failures = processor_,
               .sink = sink,
               .clock = MachineClock(),
               .stopping = [this] { return processor_.stopping(); }}),
      attended_(MachineClock().Now()) {
  trap_.Open(context.inspector);
  thread_ = Thread({"fn debug", context.definition->name}, [this] { Loop(); });
}

DebugWorker::~DebugWorker() {
  trap_.Close();
  processor_.RequestStop();
  stop_.Close();
  inspector_.Close();
  thread_.join();
}

void DebugWorker::Loop() {
  const Status made = processor_.Load();
  if (!made.ok())
    function_log_.Add(LogLevel::kError, "the debugger can't start: " + made.ToString());
  Step step = made.ok() ? Step::kWait : Step::kEnd;
  while (step != Step::kEnd) {
    if (step == Step::kRun) Run();
    if (step == Step::kGiveBack) GiveBack();
    Handler::Turn turn(processor_.handler());
    turn.Serve([&] {
      step = Next();
      return step != Step::kWait;
    });
  }
  trap_.Close();
  inspector_.Close();
  GiveBack();
}

DebugWorker::Step DebugWorker::Next() {
  const js::Inspector::State state = inspector_.state();
  const Clock::Time now = MachineClock().Now();
  if (state.connected) attended_ = now;
  if (processor_.stopping() || over_ || now - attended_ > kForgottenAfter) return Step::kEnd;
  if (!trap_.has_event()) return Step::kWait;
  if (state.ready) return Step::kRun;
  return state.had_client && !state.connected ? Step::kGiveBack : Step::kWait;
}

// Until the event is committed. An error: the run was ended, or the function can't go on.
Status DebugWorker::Process(const follow::EventPtr& event) {
  while (true) {
    const auto stepped = runner_.Step({&event, 1}, follower_.cursors(event->shard));
    if (stepped.done > 0) return OkStatus();
    if (!stepped.ended) {
      stop_.Wait(stop_.news(), MachineClock().Now() + stepped.pause);
      continue;
    }
    if (!stepped.why.ok()) return stepped.why;
    return Error(Code::kUnavailable, "function.stopping", "the function stops");
  }
}

void DebugWorker::Run() {
  follow::EventPtr event = trap_.Borrow();
  const Status processed = Process(event);
  if (processed.ok()) {
    processor_.LetGo({&event, 1});
    event.reset();
  } else {
    // The client has left or has ended the run. The worker finds out about every other error.
    processor_.Drop();
  }
  trap_.Return(std::move(event));
  // V8 does not go on after an isolate's memory is used up.
  const bool passing = processed.ok() || processed.id() == "function.stopping";
  if (passing && !processor_.handler().spent()) return;
  function_log_.Add(LogLevel::kError,
                    "the debugger has ended: " +
                        (passing ? "the event used too much memory" : processed.ToString()));
  over_ = true;
  trap_.Close();
}

void DebugWorker::GiveBack() {
  if (follow::EventPtr event = trap_.Borrow()) trap_.Return(std::move(event));
}

}  // namespace sluice::function
