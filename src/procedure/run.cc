#include "procedure/run.h"

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "procedure/arguments.h"
#include "procedure/db_object.h"
#include "procedure/session.h"
#include "procedure/statement_object.h"
#include "procedure/thread_object.h"

namespace sluice::procedure {
namespace {

// A procedure that waits for an acknowledgement calls its `look` this often.
constexpr auto kAcknowledgeLook = std::chrono::milliseconds(20);
// A caller that waits for rows looks this often whether the request was cancelled.
constexpr auto kCancelLook = std::chrono::milliseconds(100);
// The longest time for a procedure to consume what its client acknowledged before it went.
constexpr auto kLastAct = std::chrono::seconds(3);
// A procedure may return 0 or a number between these two.
constexpr int64_t kFirstCode = -200;
constexpr int64_t kLastCode = -299;
// Comdb2's number for a procedure that returns inside of a transaction.
constexpr int64_t kOpenTransaction = -222;

// Checks what main returned. Nothing or 0 is a success. A string is an error, and so is another
// number, which a text may follow.
Status CheckReturned(const std::string& name, const std::vector<lua::Returned>& values) {
  const Value& value = std::get<Value>(values[0]);
  if (value.is_string()) {
    return Error(Code::kInvalidArgument, "procedure.returned", "procedure '{}': {}", name,
                 value.AsString())
        .With("said", std::string(value.AsString()));
  }
  if (!value.is_number() || value.ToDouble() == 0) return OkStatus();
  int64_t code = WholeNumber(value).value_or(kFirstCode);
  if (code > kFirstCode || code < kLastCode) code = kFirstCode;
  const Value* const text = values.size() > 1 ? std::get_if<Value>(&values[1]) : nullptr;
  const std::string said(text != nullptr && text->is_string() ? text->AsString() : "");
  return Error(Code::kInvalidArgument, "procedure.returned", "procedure '{}' returned {}{}", name,
               code, said.empty() ? "" : ": " + said)
      .With("returned", std::to_string(code))
      .With("said", said);
}

// A call outside of Lua, for rows of an object that main returned.
class FinalCall final : public lua::Call {
 public:
  size_t size() const override { return 0; }
  lua::Kind kind(size_t) const override { return lua::Kind::kNil; }
  Result<Value> Get(size_t) const override { return Value(); }
  Result<Value> GetAnnotated(size_t) const override { return Value(); }
  Result<lua::Passed> Pass(size_t) const override { return lua::Passed(); }
  std::string FunctionName(size_t) const override { return ""; }
  std::shared_ptr<lua::HostObject> Object(size_t) const override { return nullptr; }
  void Return(Value) override {}
  void ReturnRow(Value) override {}
  void Return(std::shared_ptr<lua::HostObject>) override {}
  bool ended() const override { return false; }
  bool stopped() const override { return false; }
  uint64_t RemainingMs() const override { return kNoLimit; }
  void Renew() override {}
  void Spend(uint64_t) override {}
};

}  // namespace

ProcedureRun::ProcedureRun(query::QueryEngine& engine, const Store& store, const Triggers& triggers,
                           RunOptions options, std::shared_ptr<std::atomic<size_t>> running)
    : engine_(engine),
      store_(store),
      triggers_(triggers),
      options_(std::move(options)),
      running_(std::move(running)),
      cancelled_(std::make_shared<std::atomic<bool>>(false)) {
  if (!runs_ahead()) return;
  options_.request.receipts->SetWake(
      std::make_shared<const std::function<void()>>([wakes = wakes_] { wakes->Wake(); }));
}

ProcedureRun::~ProcedureRun() {
  if (runs_ahead()) options_.request.receipts->SetWake(nullptr);
  Stop();
  if (thread_.joinable()) thread_.join();
  --*running_;
}

void ProcedureRun::Stop() {
  state_.Lock()->stopping = true;
  wakes_->Wake();
  const auto until = MachineClock().Now() + kLastAct;
  while (true) {
    const uint64_t seen = wakes_->changed.news();
    {
      const auto state = state_.Lock();
      if (state->acted_on || state->ended) break;
    }
    if (wakes_->changed.Wait(seen, until) == Signal::Waited::kTimeout) break;
  }
  cancelled_->store(true);
  const auto state = state_.Lock();
  if (state->runtime != nullptr) state->runtime->Stop();
}

bool ProcedureRun::Next() {
  if (!thread_.joinable()) thread_ = Thread({"procedure", options_.name}, [this] { Main(); });
  if (!runs_ahead()) {
    state_.Lock()->acknowledged = given_;
    wakes_->Wake();
  }
  if (ready_.empty()) WaitForRows();
  if (ready_.empty()) return false;
  row_ = std::move(ready_.front());
  ready_.pop_front();
  ++given_;
  return true;
}

void ProcedureRun::WaitForRows() {
  const auto& cancelled = options_.request.cancelled;
  while (true) {
    const uint64_t seen = wakes_->changed.news();
    bool stopping = false;
    {
      const auto state = state_.Lock();
      ready_.swap(state->queue);
      if (!ready_.empty() || state->ended) break;
      stopping = state->stopping;
    }
    if (cancelled != nullptr && cancelled->load() && !stopping) Stop();
    wakes_->changed.Wait(seen, MachineClock().Now() + kCancelLook);
  }
  if (ready_.size() >= max_queued()) wakes_->Wake();
}

bool ProcedureRun::NextWaits() const {
  if (!ready_.empty()) return false;
  const auto state = state_.Lock();
  return state->queue.empty() && !state->ended;
}

Status ProcedureRun::status() const {
  const auto state = state_.Lock();
  return ready_.empty() && state->queue.empty() && state->ended ? state->status : OkStatus();
}

bool ProcedureRun::HasRoom() const {
  const auto state = state_.Lock();
  return state->queue.size() < max_queued() || state->stopping;
}

Result<uint64_t> ProcedureRun::Put(Value row, Acknowledgement acknowledgement) {
  uint64_t pushed = 0;
  bool first = false;
  while (pushed == 0) {
    const uint64_t seen = wakes_->changed.news();
    {
      const auto state = state_.Lock();
      if (state->stopping) {
        return Fail(Code::kCancelled, "procedure.client_gone", "client disconnect");
      }
      if (state->queue.size() < max_queued()) {
        first = state->queue.empty();
        state->queue.push_back(std::move(row));
        pushed = ++state->pushed;
        if (acknowledgement == Acknowledgement::kAwaited) state->acted_on = false;
      }
    }
    if (pushed == 0) wakes_->changed.Wait(seen);
  }
  if (first) wakes_->changed.Wake();
  return pushed;
}

Status ProcedureRun::Push(Value row) {
  const auto pushed = Put(std::move(row), Acknowledgement::kNotAwaited);
  return pushed ? OkStatus() : pushed.error();
}

Status ProcedureRun::PushAndWait(Value row, const std::function<Status()>& look) {
  state_.Lock()->acted_on = true;
  ASSIGN_OR_RETURN(const uint64_t mine, Put(std::move(row), Acknowledgement::kAwaited));
  Status looked;
  while (true) {
    const uint64_t seen = wakes_->changed.news();
    const bool went = gone();  // asked first: it may acknowledge and go in between
    if (acknowledged() >= mine) return OkStatus();
    if (went || !looked.ok()) break;
    if (wakes_->changed.Wait(seen, MachineClock().Now() + kAcknowledgeLook) ==
        Signal::Waited::kTimeout) {
      looked = look();
    }
  }
  state_.Lock()->acted_on = true;
  wakes_->changed.Wake();
  RETURN_IF_ERROR(looked);
  return Error(Code::kCancelled, "procedure.client_gone", "client disconnect");
}

uint64_t ProcedureRun::pushed() const { return state_.Lock()->pushed; }

uint64_t ProcedureRun::acknowledged() const {
  return runs_ahead() ? options_.request.receipts->acknowledged() : state_.Lock()->acknowledged;
}

bool ProcedureRun::gone() const { return state_.Lock()->stopping; }

void ProcedureRun::Rest() {
  state_.Lock()->acted_on = true;
  if (gone()) wakes_->changed.Wake();
}

void ProcedureRun::Confirm(uint64_t rows) {
  if (runs_ahead()) options_.request.receipts->Confirm(rows);
}

void ProcedureRun::SetWake(std::shared_ptr<Signal> signal) {
  wakes_->forwarder.Set(std::move(signal));
}

Emitter::Types ProcedureRun::column_types() const { return state_.Lock()->types; }

void ProcedureRun::Main() {
  const NestedRun nested(options_.nesting + 1);
  Status status = RunProgram();
  {
    const auto state = state_.Lock();
    state->status = std::move(status);
    state->ended = true;
  }
  wakes_->changed.Wake();
}

Status ProcedureRun::RunProgram() {
  Session session{.engine = engine_,
                  .store = store_,
                  .triggers = &triggers_,
                  .name = options_.name,
                  .context = options_.context,
                  .request = options_.request,
                  .cancelled = cancelled_,
                  .emit = [this](Value row) { return Push(std::move(row)); },
                  .client = options_.request.acknowledges ? this : nullptr,
                  .nesting = options_.nesting};
  session.limits = options_.limits;
  session.note_types = [this](Emitter::Types types) { state_.Lock()->types = std::move(types); };
  lua::RuntimeOptions runtime_options;
  runtime_options.program = options_.program;
  runtime_options.limits = options_.limits;
  runtime_options.limits.time_ms = options_.request.timeout_ms;
  if (options_.request.transaction != nullptr && options_.request.timeout_ms > 0) {
    // No step outlasts the transaction.
    runtime_options.limits.deadline_ns =
        options_.limits.clock->MonotonicNs() + options_.request.timeout_ms * 1'000'000;
  }
  runtime_options.globals.emplace_back("db", std::make_shared<DbObject>(session));
  runtime_options.print = [this](std::string_view line) {
    log::Info("a procedure prints", {{"procedure", options_.name}, {"line", std::string(line)}});
  };
  script::Outcome failed;
  const auto runtime = lua::Runtime::Start(std::move(runtime_options), &failed);
  if (runtime == nullptr) return FailureOf("procedure", options_.name, failed);
  session.runtime = runtime.get();
  if (!options_.request.time_zone.empty()) runtime->SetTimeZone(options_.request.time_zone);
  {
    const auto state = state_.Lock();
    state->runtime = runtime.get();
    if (state->stopping) runtime->Stop();
  }
  const lua::Finished finished = runtime->Call(options_.arguments);
  EndThreads(session, !finished.ok());
  state_.Lock()->runtime = nullptr;
  mutations_ = session.mutations;
  if (!finished.ok()) return FailureOf("procedure", options_.name, finished.outcome);
  if (session.begun) {
    return Error(Code::kConflict, "procedure.open_transaction",
                 "procedure '{}': unterminated transaction (no commit or rollback)", options_.name)
        .With("returned", std::to_string(kOpenTransaction))
        .With("said", "unterminated transaction (no commit or rollback)");
  }
  if (!session.emitted_error.empty()) {
    return Error(Code::kInvalidArgument, "procedure.emitted", "procedure '{}': {}", options_.name,
                 session.emitted_error)
        .With("said", session.emitted_error);
  }
  if (finished.values.empty()) return OkStatus();
  if (std::holds_alternative<Value>(finished.values[0])) {
    return CheckReturned(options_.name, finished.values);
  }
  FinalCall call;
  return EmitObject(session, call, *std::get<std::shared_ptr<lua::HostObject>>(finished.values[0]));
}

}  // namespace sluice::procedure
