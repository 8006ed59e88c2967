#include "function/debug_worker.h"

namespace sluice::function {
namespace {

// A debugger to which nobody is connected for this long ends: what it holds must not be forgotten.
constexpr std::chrono::minutes kForgottenAfter(10);

}  // namespace

DebugWorker::DebugWorker(WorkerContext context)
    : Worker(std::move(context), Start::kLater), attended_(std::chrono::steady_clock::now()) {
  thread_ = Thread({"fn debug", context_.definition->name}, [this] { Loop(); });
}

DebugWorker::~DebugWorker() { End(); }

void DebugWorker::End() {
  {
    const std::lock_guard lock(mutex_);
    *stop_ = true;
  }
  context_.inspector->Close();
  if (thread_.joinable()) thread_.join();
}

bool DebugWorker::Take(Event& event, Worker& from) {
  {
    const std::lock_guard lock(mutex_);
    const js::Inspector::State state = context_.inspector->state();
    const bool wanted = state.connected || !state.had_client;
    if (stopping() || over_ || event_ || !wanted) return false;
    event_ = std::move(event);
    from_ = &from;
  }
  context_.inspector->Wake();
  return true;
}

void DebugWorker::Loop() {
  const Status made = EnsureHandler();
  if (!made.ok())
    context_.log.Add(LogLevel::kError, "the debugger can't start: " + made.ToString());
  Step step = made.ok() ? Step::kWait : Step::kEnd;
  while (step != Step::kEnd) {
    if (step == Step::kRun) Run();
    if (step == Step::kGiveBack) GiveBack();
    Handler::Turn turn(*handler_);
    turn.Serve([&] {
      step = Next();
      return step != Step::kWait;
    });
  }
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  context_.inspector->Close();
  GiveBack();
}

DebugWorker::Step DebugWorker::Next() {
  const std::lock_guard lock(mutex_);
  const js::Inspector::State state = context_.inspector->state();
  const auto now = std::chrono::steady_clock::now();
  if (state.connected) attended_ = now;
  if (stopping() || over_ || now - attended_ > kForgottenAfter) return Step::kEnd;
  if (!event_) return Step::kWait;
  if (state.ready) return Step::kRun;
  return state.had_client && !state.connected ? Step::kGiveBack : Step::kWait;
}

void DebugWorker::Run() {
  const Status processed = ProcessAlone(*event_);
  if (processed.ok()) {
    Finish({&*event_, 1});
    Worker* from = nullptr;
    {
      const std::lock_guard lock(mutex_);
      event_.reset();
      from = std::exchange(from_, nullptr);
    }
    from->Release(std::nullopt);
  } else {
    // The client has left, or told it to end. Anything else is the worker's to find out and tell.
    log_.Drop();
    insight_.Drop();
    GiveBack();
  }
  // V8 does not go on after an isolate's memory is used up.
  const bool passing = processed.ok() || processed.id() == "function.stopping";
  if (passing && !handler_->spent()) return;
  context_.log.Add(LogLevel::kError,
                   "the debugger has ended: " +
                       (passing ? "the event used too much memory" : processed.ToString()));
  const std::lock_guard lock(mutex_);
  over_ = true;
}

void DebugWorker::GiveBack() {
  std::optional<Event> event;
  Worker* from = nullptr;
  {
    const std::lock_guard lock(mutex_);
    event.swap(event_);
    from = std::exchange(from_, nullptr);
  }
  if (event) from->Release(std::move(event));
}

}  // namespace sluice::function
