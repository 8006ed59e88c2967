#include "procedure/sp_object.h"

#include <utility>

#include "procedure/db_object.h"

namespace sluice::procedure {

const lua::HostClass& SpObject::Class() {
  static const lua::HostClass type{.name = "dbsp",
                                   .methods = {{"__call",
                                                [](lua::HostObject& object, lua::Call& call) {
                                                  return static_cast<SpObject&>(object).Run(call);
                                                }}},
                                   .constants = {}};
  return type;
}

Status SpObject::Run(lua::Call& call) {
  if (session_.nesting >= kMaxNesting) {
    return Error(Code::kTooLarge, "procedure.nesting", "procedures call each other {} levels deep",
                 kMaxNesting);
  }
  std::vector<Value> arguments;
  for (size_t i = 0; i < call.size(); ++i) {
    ASSIGN_OR_RETURN(Value argument, call.Get(i));
    arguments.push_back(std::move(argument));
  }
  lua::RuntimeOptions options;
  options.program = program_;
  options.limits = session_.limits;
  options.globals.emplace_back("db", std::make_shared<DbObject>(session_));
  const uint64_t left = call.RemainingMs();
  if (left != lua::Call::kNoLimit) options.limits.time_ms = std::max<uint64_t>(left, 1);
  script::Outcome failed;
  const auto runtime = lua::Runtime::Start(std::move(options), &failed);
  lua::Finished finished{.outcome = failed, .values = {}};
  if (runtime != nullptr) {
    lua::Runtime* const outer = std::exchange(session_.runtime, runtime.get());
    ++session_.nesting;
    finished = runtime->Call(arguments);
    --session_.nesting;
    session_.runtime = outer;
    call.Spend(runtime->instructions());
  }
  if (!finished.ok()) {
    return Error(Code::kInvalidArgument, "procedure.failed", "{}", finished.outcome.message);
  }
  for (lua::Returned& returned : finished.values) {
    if (auto* value = std::get_if<Value>(&returned)) call.Return(std::move(*value));
  }
  return OkStatus();
}

}  // namespace sluice::procedure
