// Everything that may raise an error runs inside lua_pcall: code outside of it must not allocate.
#include "lua/runtime.h"

#include <utility>

#include "lua/host_objects.h"
#include "lua/sandbox.h"
#include "lua/state.h"
#include "lua/values.h"

namespace sluice::lua {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
// The key in the registry of the program's text, as a function.
const char kTextKey = 0;

struct Failure {
  std::string message;
  std::string stack;
  int line = 0;
};

std::string StringAt(lua_State* lua, int index) {
  size_t length = 0;
  const char* const text = lua_tolstring(lua, index, &length);
  return text == nullptr ? std::string() : std::string(text, length);
}

// The handler of errors: records the place. The failure is upvalue 1.
int NoteFailure(lua_State* lua) {
  if (State::Of(lua).ended()) return 1;
  auto* const failure = static_cast<Failure*>(lua_touserdata(lua, lua_upvalueindex(1)));
  PushErrorText(lua, 1);
  failure->message = StringAt(lua, -1);
  lua_Debug frame;
  for (int level = 0; lua_getstack(lua, level, &frame) != 0; ++level) {
    lua_getinfo(lua, "l", &frame);
    if (frame.currentline <= 0) continue;
    failure->line = frame.currentline;
    break;
  }
  luaL_traceback(lua, lua, nullptr, 1);
  failure->stack = StringAt(lua, -1);
  lua_pop(lua, 1);
  return 1;
}

}  // namespace

class Runtime::Impl {
 public:
  explicit Impl(RuntimeOptions options)
      : options_(std::move(options)), state_(options_.limits.memory_bytes) {
    state_.print = options_.print;
    state_.SetCancelled(options_.cancelled);
  }

  bool Start(script::Outcome* failed) {
    if (state_.lua() == nullptr) {
      failed->ended = script::Ended::kOutOfMemory;
      failed->message = "no memory for a Lua state";
      return false;
    }
    *failed =
        RunProtected([](lua_State* lua, void* self) { static_cast<Impl*>(self)->Load(lua); }, this);
    return failed->ok();
  }

  Finished Call(const std::vector<Value>& arguments, std::string_view function, Instance instance) {
    Finished finished;
    CallContext context{.arguments = &arguments,
                        .function = function,
                        .instance = instance == kFirstInstance ? first_ : instance,
                        .values = &finished.values};
    finished.outcome = RunProtected(RunFunction, &context);
    if (!finished.ok()) finished.values.clear();
    return finished;
  }

  Finished CallWith(const std::vector<Passed>& arguments, std::string_view function) {
    Finished finished;
    CallContext context{.arguments = nullptr,
                        .objects = &arguments,
                        .function = function,
                        .instance = first_,
                        .values = &finished.values};
    finished.outcome = RunProtected(RunFunction, &context);
    if (!finished.ok()) finished.values.clear();
    return finished;
  }

  const std::shared_ptr<const Program>& program() const { return options_.program; }
  script::Outcome AddInstance(Instance* made) { return RunProtected(RunText, made); }
  // Needs no memory: the slot in the registry exists.
  void DropInstance(Instance instance) { luaL_unref(state_.lua(), LUA_REGISTRYINDEX, instance); }

  State& state() { return state_; }
  const State& state() const { return state_; }
  Limits& limits() { return options_.limits; }

 private:
  using Body = void (*)(lua_State* lua, void* context);
  struct CallContext {
    const std::vector<Value>* arguments;
    const std::vector<Passed>* objects = nullptr;  // instead of `arguments`
    std::string_view function;
    Instance instance;
    std::vector<Returned>* values;
  };
  struct Protected {
    Body body;
    void* context;
    Failure failure;
  };

  // Sets the handler up inside of protection, because a closure needs memory, and calls the body.
  static int RunBody(lua_State* lua) {
    const auto* const run = static_cast<Protected*>(lua_touserdata(lua, 1));
    lua_settop(lua, 0);
    run->body(lua, run->context);
    return 0;
  }
  static int RunWithHandler(lua_State* lua) {
    auto* const run = static_cast<Protected*>(lua_touserdata(lua, 1));
    lua_pushlightuserdata(lua, &run->failure);
    lua_pushcclosure(lua, NoteFailure, 1);
    lua_pushcfunction(lua, RunBody);
    lua_pushlightuserdata(lua, run);
    const int status = lua_pcall(lua, 1, 0, 2);
    lua_pushinteger(lua, status);
    return 1;
  }

  script::Outcome RunProtected(Body body, void* context) {
    lua_State* const lua = state_.lua();
    Protected run{.body = body, .context = context, .failure = {}};
    int status = LUA_OK;
    if (!state_.ended()) {
      state_.Begin(options_.limits.instructions, {.step_ns = options_.limits.time_ms * kNsPerMs,
                                                  .deadline_ns = options_.limits.deadline_ns,
                                                  .clock = options_.limits.clock});
      lua_pushcfunction(lua, RunWithHandler);
      lua_pushlightuserdata(lua, &run);
      status = lua_pcall(lua, 1, 1, 0);
      if (status == LUA_OK) status = static_cast<int>(lua_tointeger(lua, -1));
      lua_settop(lua, 0);
    }
    return OutcomeOf(status, std::move(run.failure));
  }

  script::Outcome OutcomeOf(int status, Failure failure) {
    script::Outcome outcome;
    if (status == LUA_ERRMEM) state_.EndForMemory();
    if (state_.ended()) {
      outcome.ended = state_.how_ended();
      outcome.message = state_.why_ended();
    } else if (status != LUA_OK) {
      outcome.ended = script::Ended::kThrew;
      outcome.type = "LuaError";
      outcome.message = failure.message.empty() ? "an error while an error was handled"
                                                : std::move(failure.message);
      outcome.stack = std::move(failure.stack);
      outcome.place.line = failure.line;
    }
    return outcome;
  }

  void Load(lua_State* lua) {
    PushEnvironment(lua, options_.program->numbers());
    PushLibraries(lua);
    for (const auto& [name, object] : options_.globals) {
      lua_pushlstring(lua, name.data(), name.size());
      PushObject(lua, object);
      lua_rawset(lua, -3);
    }
    lua_pop(lua, 1);
    const Program& program = *options_.program;
    if (luaL_loadbufferx(lua, program.code().data(), program.code().size(), program.name().c_str(),
                         "b") != LUA_OK) {
      lua_error(lua);
    }
    lua_insert(lua, -2);
    lua_setupvalue(lua, -2, 1);  // the text's _ENV
    lua_rawsetp(lua, LUA_REGISTRYINDEX, &kTextKey);
    RunText(lua, &first_);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, first_);
    SetOutermost(lua);
    lua_pop(lua, 1);
  }

  static void PushArguments(lua_State* lua, const CallContext& context) {
    if (context.objects == nullptr) {
      for (const Value& argument : *context.arguments) PushValue(lua, argument);
      return;
    }
    for (const Passed& argument : *context.objects) PushPassed(lua, argument);
  }

  // The text returns a table of its functions.
  static void RunText(lua_State* lua, void* made) {
    lua_rawgetp(lua, LUA_REGISTRYINDEX, &kTextKey);
    lua_call(lua, 0, 1);
    *static_cast<Instance*>(made) = luaL_ref(lua, LUA_REGISTRYINDEX);
  }

  static void RunFunction(lua_State* lua, void* pointer) {
    const auto& context = *static_cast<CallContext*>(pointer);
    const auto count = static_cast<int>(context.objects != nullptr ? context.objects->size()
                                                                   : context.arguments->size());
    luaL_checkstack(lua, count + 3, "too many arguments");
    lua_rawgeti(lua, LUA_REGISTRYINDEX, context.instance);
    lua_pushlstring(lua, context.function.data(), context.function.size());
    if (lua_rawget(lua, -2) != LUA_TFUNCTION) {
      luaL_error(lua, "there is no function '%s'", std::string(context.function).c_str());
    }
    lua_remove(lua, -2);
    PushArguments(lua, context);
    lua_call(lua, count, LUA_MULTRET);
    for (int i = 1; i <= lua_gettop(lua); ++i) {
      if (auto object = ToObject(lua, i)) {
        context.values->emplace_back(std::move(object));
        continue;
      }
      Result<Value> value = ToValue(lua, i);
      if (!value) RaiseText(lua, value.error().message());
      context.values->emplace_back(std::move(*value));
    }
  }

  RuntimeOptions options_;
  State state_;
  Instance first_ = 0;
};

std::unique_ptr<Runtime> Runtime::Start(RuntimeOptions options, script::Outcome* failed) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (!impl->Start(failed)) return nullptr;
  return std::unique_ptr<Runtime>(new Runtime(std::move(impl)));
}

Runtime::Runtime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runtime::~Runtime() = default;

Finished Runtime::Call(const std::vector<Value>& arguments, std::string_view function,
                       Instance instance) {
  return impl_->Call(arguments, function, instance);
}

Finished Runtime::CallWith(const std::vector<Passed>& arguments, std::string_view function) {
  return impl_->CallWith(arguments, function);
}

const std::shared_ptr<const Program>& Runtime::program() const { return impl_->program(); }
script::Outcome Runtime::AddInstance(Instance* made) { return impl_->AddInstance(made); }
void Runtime::DropInstance(Instance instance) { impl_->DropInstance(instance); }
bool Runtime::spent() const { return impl_->state().ended(); }
void Runtime::Stop() { impl_->state().Stop(); }
uint64_t Runtime::instructions() const { return impl_->state().instructions(); }

void Runtime::SetMaxInstructions(uint64_t instructions) {
  impl_->limits().instructions = instructions;
  impl_->state().SetMaxInstructions(instructions);
}

bool Runtime::SetTimeZone(std::string_view name) {
  const auto zone = Zone::Named(name);
  if (zone) impl_->state().zone = *zone;
  return zone.has_value();
}

std::string Runtime::time_zone() const { return impl_->state().zone.name(); }
void Runtime::SetDatetimeDigits(int digits) { impl_->state().datetime_digits = digits; }
int Runtime::datetime_digits() const { return impl_->state().datetime_digits; }

}  // namespace sluice::lua
