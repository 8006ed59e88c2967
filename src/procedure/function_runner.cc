#include "procedure/function_runner.h"

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "procedure/db_object.h"
#include "procedure/function_store.h"

namespace sluice::procedure {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;

Status NoEmit(Value) {
  return Error(Code::kUnsupported, "procedure.unsupported",
               "a function returns its result: it emits no rows");
}

}  // namespace

class FunctionRunner::Aggregate final : public query::UserAggregate {
 public:
  Aggregate(Loaded& loaded, lua::Runtime::Instance instance)
      : loaded_(loaded), instance_(instance) {}
  ~Aggregate() override { loaded_.runtime->DropInstance(instance_); }

  Status Step(std::vector<Value> arguments) override {
    const auto stepped = Run(loaded_, arguments, "step", instance_);
    return stepped ? OkStatus() : stepped.error();
  }
  Result<Value> Final() override { return Run(loaded_, {}, "final", instance_); }

 private:
  Loaded& loaded_;
  const lua::Runtime::Instance instance_;
};

FunctionRunner::FunctionRunner(query::QueryEngine& engine, const Store& store,
                               query::QueryContext context, query::RunRequest request,
                               lua::Limits limits)
    : engine_(engine),
      store_(store),
      context_(std::move(context)),
      request_(std::move(request)),
      limits_(limits) {
  request_.read_only = true;
  if (request_.cancelled == nullptr) {
    request_.cancelled = std::make_shared<std::atomic<bool>>(false);
  }
  if (request_.timeout_ms > 0) {
    limits_.deadline_ns = limits_.clock->MonotonicNs() + request_.timeout_ms * kNsPerMs;
  }
}

Result<FunctionRunner::Loaded*> FunctionRunner::Load(const query::UserFunction& function) {
  if (const auto known = loaded_.find(function.name); known != loaded_.end()) {
    return known->second.get();
  }
  ASSIGN_OR_RETURN(auto program, store_.Find(function.name));
  RETURN_IF_ERROR(CheckFunction(function, *program));
  auto loaded = std::make_unique<Loaded>(Loaded{.name = function.name,
                                                .session = {.engine = engine_,
                                                            .store = store_,
                                                            .context = context_,
                                                            .request = request_,
                                                            .cancelled = request_.cancelled,
                                                            .emit = NoEmit,
                                                            .nesting = CurrentNesting(),
                                                            .role = Session::Role::kFunction},
                                                .runtime = nullptr});
  loaded->session.limits = limits_;
  lua::RuntimeOptions options;
  options.program = std::move(program);
  options.limits = limits_;
  options.cancelled = request_.cancelled.get();
  options.globals.emplace_back("db", std::make_shared<DbObject>(loaded->session));
  options.print = [name = function.name](std::string_view line) {
    log::Info("a function prints", {{"function", name}, {"line", std::string(line)}});
  };
  script::Outcome failed;
  loaded->runtime = lua::Runtime::Start(std::move(options), &failed);
  if (loaded->runtime == nullptr) {
    return Unexpected(FailureOf("function", function.name, failed));
  }
  loaded->session.runtime = loaded->runtime.get();
  return loaded_.emplace(function.name, std::move(loaded)).first->second.get();
}

Result<Value> FunctionRunner::Run(Loaded& loaded, const std::vector<Value>& arguments,
                                  std::string_view function, lua::Runtime::Instance instance) {
  if (CurrentNesting() >= kMaxNesting) {
    return Fail(Code::kTooLarge, "procedure.nesting", "functions call each other {} levels deep",
                kMaxNesting);
  }
  const NestedRun nested;
  lua::Finished finished = loaded.runtime->Call(arguments, function, instance);
  if (!finished.ok()) return Unexpected(FailureOf("function", loaded.name, finished.outcome));
  if (finished.values.empty()) return Value(nullptr);
  if (auto* value = std::get_if<Value>(&finished.values[0])) return std::move(*value);
  return Fail(Code::kInvalidArgument, "procedure.returned",
              "function '{}' returned an object of the database, which is not a value",
              loaded.name);
}

Result<Value> FunctionRunner::Call(const query::UserFunction& function,
                                   std::vector<Value> arguments) {
  ASSIGN_OR_RETURN(Loaded * loaded, Load(function));
  return Run(*loaded, arguments, function.name, lua::Runtime::kFirstInstance);
}

Result<std::unique_ptr<query::UserAggregate>> FunctionRunner::StartAggregate(
    const query::UserFunction& function) {
  ASSIGN_OR_RETURN(Loaded * loaded, Load(function));
  lua::Runtime::Instance instance = lua::Runtime::kFirstInstance;
  const script::Outcome started = loaded->runtime->AddInstance(&instance);
  if (!started.ok()) return Unexpected(FailureOf("function", function.name, started));
  return std::make_unique<Aggregate>(*loaded, instance);
}

}  // namespace sluice::procedure
