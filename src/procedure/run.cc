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

constexpr auto kAcknowledgeLook = std::chrono::milliseconds(20);
constexpr auto kCancelLook = std::chrono::milliseconds(100);
// How long a procedure may take to consume what its client acknowledged before it went.
constexpr auto kLastAct = std::chrono::seconds(3);
// What a procedure may return as a number: 0, or one of these.
constexpr int64_t kFirstCode = -200;
constexpr int64_t kLastCode = -299;
// Comdb2's number for one that returns inside of a transaction.
constexpr int64_t kOpenTransaction = -222;

// What main returned: nothing or 0 is success, a string is an error, and so is another number,
// after which there may be a text.
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
  options_.request.receipts->SetWake([this] {
    const std::lock_guard lock(mutex_);
    Notify();
  });
}

ProcedureRun::~ProcedureRun() {
  if (runs_ahead()) options_.request.receipts->SetWake(nullptr);
  {
    std::unique_lock lock(mutex_);
    Stop(&lock);
  }
  if (thread_.joinable()) thread_.join();
  --*running_;
}

void ProcedureRun::Stop(std::unique_lock<std::mutex>* lock) {
  stopping_ = true;
  Notify();
  changed_.wait_for(*lock, kLastAct, [&] { return acted_on_ || ended_; });
  cancelled_->store(true);
  if (runtime_ != nullptr) runtime_->Stop();
}

void ProcedureRun::Notify() {
  changed_.notify_all();
  if (wake_) wake_();
}

bool ProcedureRun::Next() {
  if (!thread_.joinable()) thread_ = Thread({"procedure", options_.name}, [this] { Main(); });
  if (!runs_ahead()) {
    const std::lock_guard lock(mutex_);
    acknowledged_ = given_;
    Notify();
  }
  if (ready_.empty()) WaitForRows();
  if (ready_.empty()) return false;
  row_ = std::move(ready_.front());
  ready_.pop_front();
  ++given_;
  return true;
}

void ProcedureRun::WaitForRows() {
  std::unique_lock lock(mutex_);
  const auto& asked = options_.request.cancelled;
  while (queue_.empty() && !ended_) {
    changed_.wait_for(lock, kCancelLook);
    if (asked != nullptr && asked->load() && !stopping_) Stop(&lock);
  }
  const bool was_full = queue_.size() >= max_queued();
  ready_.swap(queue_);
  if (was_full) Notify();
}

bool ProcedureRun::NextWaits() const {
  if (!ready_.empty()) return false;
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !ended_;
}

Status ProcedureRun::status() const {
  const std::lock_guard lock(mutex_);
  return ready_.empty() && queue_.empty() && ended_ ? status_ : OkStatus();
}

bool ProcedureRun::HasRoom() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() < max_queued() || stopping_;
}

Status ProcedureRun::Put(std::unique_lock<std::mutex>* lock, Value row) {
  changed_.wait(*lock, [&] { return queue_.size() < max_queued() || stopping_; });
  if (stopping_) return Error(Code::kCancelled, "procedure.client_gone", "client disconnect");
  queue_.push_back(std::move(row));
  ++pushed_;
  if (queue_.size() == 1) changed_.notify_all();
  return OkStatus();
}

Status ProcedureRun::Push(Value row) {
  std::unique_lock lock(mutex_);
  return Put(&lock, std::move(row));
}

Status ProcedureRun::PushAndWait(Value row, const std::function<Status()>& look) {
  const auto acknowledged = [&] {
    return runs_ahead() ? options_.request.receipts->acknowledged() : acknowledged_;
  };
  std::unique_lock lock(mutex_);
  acted_on_ = true;
  RETURN_IF_ERROR(Put(&lock, std::move(row)));
  acted_on_ = false;
  const uint64_t mine = pushed_;
  Status looked;
  while (acknowledged() < mine && !stopping_ && looked.ok()) {
    if (changed_.wait_for(lock, kAcknowledgeLook) == std::cv_status::no_timeout) continue;
    lock.unlock();
    looked = look();
    lock.lock();
  }
  if (acknowledged() >= mine) return OkStatus();
  acted_on_ = true;
  changed_.notify_all();
  RETURN_IF_ERROR(looked);
  return Error(Code::kCancelled, "procedure.client_gone", "client disconnect");
}

uint64_t ProcedureRun::pushed() const {
  const std::lock_guard lock(mutex_);
  return pushed_;
}

uint64_t ProcedureRun::acknowledged() const {
  if (runs_ahead()) return options_.request.receipts->acknowledged();
  const std::lock_guard lock(mutex_);
  return acknowledged_;
}

bool ProcedureRun::gone() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void ProcedureRun::Rest() {
  const std::lock_guard lock(mutex_);
  acted_on_ = true;
  if (stopping_) changed_.notify_all();
}

void ProcedureRun::Confirm(uint64_t rows) {
  if (runs_ahead()) options_.request.receipts->Confirm(rows);
}

void ProcedureRun::SetWake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

Emitter::Types ProcedureRun::column_types() const {
  const std::lock_guard lock(mutex_);
  return types_;
}

void ProcedureRun::Main() {
  const NestedRun nested(options_.nesting + 1);
  Status status = RunProgram();
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
  ended_ = true;
  changed_.notify_all();
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
  session.note_types = [this](Emitter::Types types) {
    const std::lock_guard lock(mutex_);
    types_ = std::move(types);
  };
  lua::RuntimeOptions runtime_options;
  runtime_options.program = options_.program;
  runtime_options.limits = options_.limits;
  runtime_options.limits.time_ms = options_.request.timeout_ms;
  if (options_.request.transaction != nullptr && options_.request.timeout_ms > 0) {
    // No step outlasts the transaction.
    runtime_options.limits.deadline_ns =
        SystemClock().MonotonicNs() + options_.request.timeout_ms * 1'000'000;
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
    const std::lock_guard lock(mutex_);
    runtime_ = runtime.get();
    if (stopping_) runtime->Stop();
  }
  const lua::Finished finished = runtime->Call(options_.arguments);
  EndThreads(session, !finished.ok());
  {
    const std::lock_guard lock(mutex_);
    runtime_ = nullptr;
  }
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
