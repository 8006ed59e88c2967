#include "function/debug_worker.h"

#include <thread>
#include <utility>

namespace sluice::function {
namespace {

// A debugger to which nobody is connected for this long ends: what it holds must not be forgotten.
constexpr std::chrono::minutes kForgottenAfter(10);

}  // namespace

DebugWorker::DebugWorker(ProcessorContext context, follow::CommitSink& sink,
                         follow::LaneCursors& cursors)
    : inspector_(*context.inspector),
      function_log_(context.log),
      cursors_(cursors),
      processor_(context),
      runner_({.processor = processor_,
               .failures = processor_,
               .sink = sink,
               .clock = MachineClock(),
               .stopping = [this] { return processor_.stopping(); }}),
      attended_(std::chrono::steady_clock::now()) {
  thread_ = Thread({"fn debug", context.definition->name}, [this] { Loop(); });
}

DebugWorker::~DebugWorker() {
  processor_.RequestStop();
  inspector_.Close();
  thread_.join();
}

bool DebugWorker::Take(follow::EventPtr& event, follow::LaneWorker& from) {
  {
    const std::lock_guard lock(mutex_);
    const js::Inspector::State state = inspector_.state();
    const bool wanted = state.connected || !state.had_client;
    if (processor_.stopping() || over_ || event_ != nullptr || !wanted) return false;
    event_ = std::move(event);
    from_ = &from;
  }
  inspector_.Wake();
  return true;
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
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  inspector_.Close();
  GiveBack();
}

DebugWorker::Step DebugWorker::Next() {
  const std::lock_guard lock(mutex_);
  const js::Inspector::State state = inspector_.state();
  const auto now = std::chrono::steady_clock::now();
  if (state.connected) attended_ = now;
  if (processor_.stopping() || over_ || now - attended_ > kForgottenAfter) return Step::kEnd;
  if (event_ == nullptr) return Step::kWait;
  if (state.ready) return Step::kRun;
  return state.had_client && !state.connected ? Step::kGiveBack : Step::kWait;
}

// Until the event is committed. An error: the run was ended, or the function can't go on.
Status DebugWorker::Process() {
  while (true) {
    const auto stepped = runner_.Step({&event_, 1}, cursors_);
    if (stepped.done > 0) return OkStatus();
    if (!stepped.ended) {
      std::this_thread::sleep_for(stepped.pause);
      continue;
    }
    if (!stepped.why.ok()) return stepped.why;
    return Error(Code::kUnavailable, "function.stopping", "the function stops");
  }
}

void DebugWorker::Run() {
  const Status processed = Process();
  if (processed.ok()) {
    processor_.LetGo({&event_, 1});
    follow::LaneWorker* from = nullptr;
    {
      const std::lock_guard lock(mutex_);
      event_.reset();
      from = std::exchange(from_, nullptr);
    }
    from->GiveBack(nullptr);
  } else {
    // The client has left, or told it to end. Anything else is the worker's to find out and tell.
    processor_.Drop();
    GiveBack();
  }
  // V8 does not go on after an isolate's memory is used up.
  const bool passing = processed.ok() || processed.id() == "function.stopping";
  if (passing && !processor_.handler().spent()) return;
  function_log_.Add(LogLevel::kError,
                    "the debugger has ended: " +
                        (passing ? "the event used too much memory" : processed.ToString()));
  const std::lock_guard lock(mutex_);
  over_ = true;
}

void DebugWorker::GiveBack() {
  follow::EventPtr event;
  follow::LaneWorker* from = nullptr;
  {
    const std::lock_guard lock(mutex_);
    event.swap(event_);
    from = std::exchange(from_, nullptr);
  }
  if (event != nullptr) from->GiveBack(std::move(event));
}

}  // namespace sluice::function
