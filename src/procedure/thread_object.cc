#include "procedure/thread_object.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "procedure/arguments.h"
#include "procedure/db_object.h"
#include "procedure/table_object.h"

namespace sluice::procedure {
namespace {

using lua::Call;
using lua::HostObject;

// A wait for a thread looks this often whether the run that waits is over.
constexpr auto kThreadLook = std::chrono::milliseconds(50);

ThreadObject& SelfThread(HostObject& object) { return static_cast<ThreadObject&>(object); }

Status RunJoin(HostObject& object, Call& call) {
  RETURN_IF_ERROR(SelfThread(object).Wait(call));
  for (const Value& value : SelfThread(object).values()) call.Return(value);
  return OkStatus();
}

Status RunError(HostObject& object, Call& call) {
  ThreadObject& thread = SelfThread(object);
  call.Return(thread.ended() && !thread.error().empty() ? Value(thread.error()) : Value());
  return OkStatus();
}

Session SessionOfThread(const Session& parent) {
  Session session{.engine = parent.engine,
                  .store = parent.store,
                  .triggers = parent.triggers,
                  .name = parent.name,
                  .context = parent.context,
                  .request = parent.request,
                  .cancelled = parent.cancelled,
                  .emit = parent.emit,
                  .client = nullptr,
                  .nesting = parent.nesting};
  session.context.local_tables.clear();  // those that it is given come back
  session.role = Session::Role::kThread;
  session.limits = parent.limits;
  session.emitter = parent.emitter;
  return session;
}

// Error procedure.argument for objects that are no tables.
Status CheckPassed(const lua::Passed& passed) {
  if (passed.object != nullptr && dynamic_cast<TableObject*>(passed.object.get()) == nullptr) {
    return BadArgument("create_thread", "values and dbtables as arguments");
  }
  for (const auto& [key, field] : passed.fields) RETURN_IF_ERROR(CheckPassed(field));
  return OkStatus();
}

// Tables become those of the thread's session.
void HandOver(lua::Passed& passed, Session& session) {
  if (passed.object != nullptr) {
    passed.object = static_cast<const TableObject&>(*passed.object).For(session);
  }
  for (auto& [key, field] : passed.fields) HandOver(field, session);
}

// Removes the threads that have ended from the list.
void DropEnded(Session& session) {
  std::erase_if(session.threads, [&](const std::shared_ptr<ThreadObject>& thread) {
    if (!thread->ended()) return false;
    thread->End(false);
    if (session.emitted_error.empty()) session.emitted_error = thread->emitted_error();
    session.mutations += thread->mutations();
    return true;
  });
}

}  // namespace

const lua::HostClass& ThreadObject::Class() {
  static const lua::HostClass type{
      .name = "dbthread",
      .methods = {{"join", RunJoin}, {"error", RunError}, {"sqlerror", RunError}},
      .constants = {}};
  return type;
}

ThreadObject::ThreadObject(Session& parent, std::string function,
                           std::vector<lua::Passed> arguments, uint64_t time_ms)
    : HostObject(Class()),
      session_(SessionOfThread(parent)),
      name_(parent.runtime->program()->name()),
      function_(std::move(function)),
      arguments_(std::move(arguments)),
      some_ended_(parent.thread_ended) {
  for (lua::Passed& argument : arguments_) HandOver(argument, session_);
  lua::RuntimeOptions options;
  options.program = parent.runtime->program();
  options.limits = session_.limits;
  options.limits.time_ms = time_ms;
  options.cancelled = session_.cancelled.get();
  options.globals.emplace_back("db", std::make_shared<DbObject>(session_));
  options.print = [name = name_](std::string_view line) {
    log::Info("a procedure prints", {{"procedure", name}, {"line", std::string(line)}});
  };
  script::Outcome failed;
  runtime_ = lua::Runtime::Start(std::move(options), &failed);
  if (runtime_ == nullptr) {
    error_ = failed.message;
    ended_ = true;
    return;
  }
  session_.runtime = runtime_.get();
  runtime_->SetTimeZone(parent.runtime->time_zone());
  thread_ = Thread({"lua thread", name_}, [this] { Main(); });
}

ThreadObject::~ThreadObject() { End(true); }

void ThreadObject::Main() {
  const NestedRun nested(session_.nesting + 1);
  lua::Finished finished = runtime_->CallWith(arguments_, function_);
  if (!finished.ok()) {
    error_ = finished.outcome.message;
  } else if (session_.begun) {
    error_ = "unterminated transaction (no commit or rollback)";
  }
  session_.transaction.reset();
  for (lua::Returned& returned : finished.values) {
    if (auto* value = std::get_if<Value>(&returned)) values_.push_back(std::move(*value));
  }
  ended_ = true;
  some_ended_->Wake();
}

Status ThreadObject::Wait(Call& call) {
  while (true) {
    const uint64_t seen = some_ended_->news();
    if (ended_) return OkStatus();
    if (call.ended()) {
      return Error(Code::kTimeout, "procedure.failed", "join: the run ends before its thread");
    }
    some_ended_->Wait(seen, MachineClock().Now() + kThreadLook);
  }
}

void ThreadObject::End(bool stop) {
  if (stop && runtime_ != nullptr) runtime_->Stop();
  if (thread_.joinable()) thread_.join();
}

Status StartThread(Session& session, Call& call) {
  if (session.role != Session::Role::kProcedure || session.request.transaction != nullptr ||
      session.begun || session.consumption != nullptr) {
    return Error(Code::kUnsupported, "procedure.unsupported",
                 "create_thread: a thread is made by a procedure outside of transactions, not by a "
                 "trigger, a function or a thread");
  }
  const std::string function = call.FunctionName(0);
  if (function.empty()) {
    return BadArgument("create_thread", "a local function that stands outside of functions");
  }
  std::vector<lua::Passed> arguments;
  for (size_t i = 1; i < call.size(); ++i) {
    ASSIGN_OR_RETURN(lua::Passed argument, call.Pass(i));
    RETURN_IF_ERROR(CheckPassed(argument));
    arguments.push_back(std::move(argument));
  }
  while (true) {
    const uint64_t seen = session.thread_ended->news();
    DropEnded(session);
    if (session.threads.size() < ThreadObject::kMaxThreads) break;
    if (!call.ended()) session.thread_ended->Wait(seen, MachineClock().Now() + kThreadLook);
    // The time of the threads ends with that of the run, which makes no room for another one.
    if (call.ended()) {
      return Error(Code::kTimeout, "procedure.too_many_threads",
                   "create_thread: {} threads run, the most at the same time",
                   ThreadObject::kMaxThreads);
    }
  }
  const uint64_t left = call.RemainingMs();
  auto thread =
      // Rounded up, so that a thread's time is not over before that of its run.
      std::make_shared<ThreadObject>(session, function, std::move(arguments),
                                     left == Call::kNoLimit ? 0 : left + 1);
  session.threads.push_back(thread);
  call.Return(std::move(thread));
  return OkStatus();
}

void EndThreads(Session& session, bool stop) {
  for (const auto& thread : session.threads) {
    thread->End(stop);
    if (session.emitted_error.empty()) session.emitted_error = thread->emitted_error();
    session.mutations += thread->mutations();
  }
  session.threads.clear();
}

}  // namespace sluice::procedure
