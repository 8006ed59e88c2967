// A host object is a userdata that holds a shared_ptr. Each class has a metatable, kept in the
// registry by the address of the HostClass, with the class itself under kClassKey.
#include "lua/host_objects.h"

#include <exception>
#include <new>
#include <variant>

#include "base/clock.h"
#include "lua/state.h"
#include "lua/values.h"

namespace sluice::lua {
namespace {

using Pointer = std::shared_ptr<HostObject>;

// The content of a userdata.
struct Held {
  Pointer object;
  uint64_t bytes;
};

const char kClassKey = 0;
const char kOutermostKey = 0;

class MethodCall final : public Call {
 public:
  explicit MethodCall(lua_State* lua) : lua_(lua), size_(lua_gettop(lua) - 1) {}

  size_t size() const override { return static_cast<size_t>(size_); }

  Kind kind(size_t index) const override {
    switch (lua_type(lua_, At(index))) {
      case LUA_TNONE:
      case LUA_TNIL:
        return Kind::kNil;
      case LUA_TTABLE:
        return Kind::kTable;
      case LUA_TFUNCTION:
      case LUA_TTHREAD:
        return Kind::kFunction;
      case LUA_TUSERDATA:
        return TestTyped(lua_, At(index)) != nullptr ? Kind::kValue : Kind::kObject;
      default:
        return Kind::kValue;
    }
  }

  Result<Value> Get(size_t index) const override { return ToValue(lua_, At(index)); }
  Result<Value> GetAnnotated(size_t index) const override { return ToAnnotated(lua_, At(index)); }
  Result<Passed> Pass(size_t index) const override { return ToPassed(lua_, At(index)); }
  std::string FunctionName(size_t index) const override { return OutermostName(lua_, At(index)); }
  Pointer Object(size_t index) const override { return ToObject(lua_, At(index)); }
  void Return(Value value) override { results_.emplace_back(std::move(value)); }
  void ReturnRow(Value row) override { results_.emplace_back(Row{std::move(row)}); }
  void Return(Pointer object) override { results_.emplace_back(std::move(object)); }
  bool ended() const override { return State::Of(lua_).over(); }
  bool stopped() const override { return State::Of(lua_).gone(); }

  uint64_t RemainingMs() const override {
    const uint64_t deadline = State::Of(lua_).deadline_ns();
    if (deadline == 0) return kNoLimit;
    const uint64_t now = State::Of(lua_).clock().MonotonicNs();
    return deadline > now ? (deadline - now) / 1'000'000 : 0;
  }

  void Renew() override { State::Of(lua_).Renew(); }
  void Spend(uint64_t instructions) override { State::Of(lua_).Charge(lua_, instructions); }

  int PushResults() {
    luaL_checkstack(lua_, static_cast<int>(results_.size()), "too many results");
    for (const auto& result : results_) {
      if (const auto* object = std::get_if<Pointer>(&result)) {
        PushObject(lua_, *object);
      } else if (const auto* row = std::get_if<Row>(&result)) {
        PushRow(lua_, row->value);
      } else {
        PushValue(lua_, std::get<Value>(result));
      }
    }
    return static_cast<int>(results_.size());
  }

 private:
  // Past the end of the stack's positions nothing is valid, so one that is nil stands for them.
  int At(size_t index) const {
    return index < size() ? static_cast<int>(index) + 2 : lua_gettop(lua_) + 1;
  }

  struct Row {
    Value value;
  };
  lua_State* const lua_;
  const int size_;
  std::vector<std::variant<Value, Pointer, Row>> results_;
};

Status RunMethod(const Method& method, HostObject& self, Call& call) {
  try {
    return method.run(self, call);
  } catch (const std::exception& error) {  // Lua's own errors are of another type, and pass through
    return Error(Code::kInternal, "lua.host", "{}", error.what());
  }
}

// Upvalues: the method, the class.
int CallMethod(lua_State* lua) {
  const auto* const method = static_cast<const Method*>(lua_touserdata(lua, lua_upvalueindex(1)));
  const auto* const type = static_cast<const HostClass*>(lua_touserdata(lua, lua_upvalueindex(2)));
  const Pointer self = ToObject(lua, 1);
  if (self == nullptr || &self->type() != type) {
    return luaL_error(lua, "'%s' is a method: call it as object:%s(...)", method->name.c_str(),
                      method->name.c_str());
  }
  MethodCall call(lua);
  const Status status = RunMethod(*method, *self, call);
  if (!status.ok()) RaiseText(lua, status.message());
  return call.PushResults();
}

int Collect(lua_State* lua) {
  auto* const held = static_cast<Held*>(lua_touserdata(lua, 1));
  State::Of(lua).ReleaseBytes(held->bytes);
  held->~Held();
  return 0;
}

int NoField(lua_State* lua) { return luaL_error(lua, "the fields of this object can't be set"); }

void PushMethods(lua_State* lua, const HostClass& type) {
  lua_createtable(lua, 0, static_cast<int>(type.methods.size() + type.constants.size()));
  for (const Method& method : type.methods) {
    lua_pushlightuserdata(lua, const_cast<Method*>(&method));
    lua_pushlightuserdata(lua, const_cast<HostClass*>(&type));
    lua_pushcclosure(lua, CallMethod, 2);
    lua_setfield(lua, -2, method.name.c_str());
  }
  for (const auto& [name, value] : type.constants) {
    PushValue(lua, value);
    lua_setfield(lua, -2, name.c_str());
  }
}

void PushMetatable(lua_State* lua, const HostClass& type) {
  if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &type) == LUA_TTABLE) return;
  lua_pop(lua, 1);
  lua_newtable(lua);
  PushMethods(lua, type);
  // A method of this name makes the object itself callable: an iterator, say.
  if (lua_getfield(lua, -1, "__call") != LUA_TNIL) {
    lua_setfield(lua, -3, "__call");
  } else {
    lua_pop(lua, 1);
  }
  lua_setfield(lua, -2, "__index");
  constexpr luaL_Reg kFunctions[] = {
      {"__newindex", NoField}, {"__gc", Collect}, {nullptr, nullptr}};
  luaL_setfuncs(lua, kFunctions, 0);
  lua_pushlstring(lua, type.name.data(), type.name.size());
  lua_setfield(lua, -2, "__name");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pushboolean(lua, 1);
  lua_rawsetp(lua, -2, &kClassKey);
  lua_pushvalue(lua, -1);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &type);
}

}  // namespace

void SetOutermost(lua_State* lua) {
  lua_pushvalue(lua, -1);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kOutermostKey);
}

std::string OutermostName(lua_State* lua, int index) {
  if (lua_type(lua, index) != LUA_TFUNCTION) return "";
  index = lua_absindex(lua, index);
  const int top = lua_gettop(lua);
  luaL_checkstack(lua, 3, "no room");
  std::string name;
  if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &kOutermostKey) == LUA_TTABLE) {
    for (lua_pushnil(lua); name.empty() && lua_next(lua, top + 1) != 0; lua_pop(lua, 1)) {
      if (lua_rawequal(lua, -1, index) != 0) name = lua_tostring(lua, -2);
    }
  }
  lua_settop(lua, top);
  return name;
}

void PushObject(lua_State* lua, const Pointer& object) {
  if (object == nullptr) return lua_pushnil(lua);
  PushMetatable(lua, object->type());
  const uint64_t bytes = object->bytes();
  void* const memory = lua_newuserdatauv(lua, sizeof(Held), 0);
  State::Of(lua).HoldBytes(lua, bytes);  // raises, as the line above does
  new (memory) Held{.object = object, .bytes = bytes};
  lua_insert(lua, -2);
  lua_setmetatable(lua, -2);
}

Pointer ToObject(lua_State* lua, int index) {
  if (lua_type(lua, index) != LUA_TUSERDATA || lua_getmetatable(lua, index) == 0) return nullptr;
  const bool is_object = lua_rawgetp(lua, -1, &kClassKey) == LUA_TBOOLEAN;
  lua_pop(lua, 2);
  return is_object ? static_cast<Held*>(lua_touserdata(lua, index))->object : nullptr;
}

namespace {

constexpr int kMaxPassedDepth = 16;
constexpr size_t kMaxPassedFields = 100'000;

Result<Passed> ReadPassed(lua_State* lua, int index, int depth, size_t* fields) {
  Passed passed;
  passed.object = ToObject(lua, index);
  if (passed.object != nullptr) return passed;
  if (lua_type(lua, index) != LUA_TTABLE) {
    ASSIGN_OR_RETURN(passed.value, ToValue(lua, index));
    return passed;
  }
  if (depth > kMaxPassedDepth) {
    return Fail(Code::kInvalidArgument, "lua.argument",
                "a table with objects is nested more than {} levels deep, or holds itself",
                kMaxPassedDepth);
  }
  luaL_checkstack(lua, 4, "table");
  passed.is_table = true;
  index = lua_absindex(lua, index);
  lua_pushnil(lua);
  while (lua_next(lua, index) != 0) {
    Result<Value> key = ToValue(lua, -2);
    Result<Passed> field = ReadPassed(lua, -1, depth + 1, fields);
    lua_pop(lua, 1);
    Status status = key ? OkStatus() : key.error();
    if (status.ok() && !field) status = field.error();
    if (status.ok() && ++*fields > kMaxPassedFields) {
      status = Error(Code::kTooLarge, "lua.argument", "a table with objects has at most {} fields",
                     kMaxPassedFields);
    }
    if (!status.ok()) {
      lua_pop(lua, 1);
      return Unexpected(status);
    }
    passed.fields.push_back({std::move(*key), std::move(*field)});
  }
  return passed;
}

}  // namespace

// A table without objects goes as a value, which has limits of its own.
Result<Passed> ToPassed(lua_State* lua, int index) {
  if (ToObject(lua, index) == nullptr) {
    if (auto value = ToValue(lua, index)) return Passed{.value = std::move(*value)};
  }
  size_t fields = 0;
  return ReadPassed(lua, index, 0, &fields);
}

void PushPassed(lua_State* lua, const Passed& passed) {
  luaL_checkstack(lua, 4, "argument");
  if (passed.object != nullptr) return PushObject(lua, passed.object);
  if (!passed.is_table) return PushValue(lua, passed.value);
  lua_createtable(lua, 0, static_cast<int>(passed.fields.size()));
  for (const auto& [key, field] : passed.fields) {
    PushValue(lua, key);
    PushPassed(lua, field);
    lua_rawset(lua, -3);
  }
}

}  // namespace sluice::lua
