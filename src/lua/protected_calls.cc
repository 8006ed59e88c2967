// pcall, xpcall and the coroutine functions, which hand on the error of a limit instead of giving
// it to the program. The error handler of xpcall is not called for one either: it would run inside
// the hook, where no further hook comes.
#include "lua/sandbox.h"
#include "lua/state.h"

namespace sluice::lua {
namespace {

constexpr uint64_t kChargePerResume = 10;
constexpr char kStackOverflow[] = "too many values";

// After anything that catches errors.
void HandOn(lua_State* lua, int status) {
  State& state = State::Of(lua);
  if (status == LUA_ERRMEM) state.EndForMemory();
  if (state.ended()) state.Raise(lua);
}

// `extra` values below the results are not results.
int FinishCall(lua_State* lua, int status, lua_KContext extra) {
  if (status != LUA_OK && status != LUA_YIELD) {
    HandOn(lua, status);
    lua_pushboolean(lua, 0);
    lua_pushvalue(lua, -2);
    return 2;
  }
  return lua_gettop(lua) - static_cast<int>(extra);
}

int ProtectedCall(lua_State* lua) {
  luaL_checkany(lua, 1);
  lua_pushboolean(lua, 1);
  lua_insert(lua, 1);
  const int status = lua_pcallk(lua, lua_gettop(lua) - 2, LUA_MULTRET, 0, 0, FinishCall);
  return FinishCall(lua, status, 0);
}

int CallHandler(lua_State* lua) {
  if (State::Of(lua).ended()) return 1;
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, lua_gettop(lua) - 1, 1);
  return 1;
}

int ProtectedCallWithHandler(lua_State* lua) {
  const int arguments = lua_gettop(lua);
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  lua_pushvalue(lua, 2);
  lua_pushcclosure(lua, CallHandler, 1);
  lua_replace(lua, 2);
  lua_pushboolean(lua, 1);
  lua_pushvalue(lua, 1);
  lua_rotate(lua, 3, 2);
  const int status = lua_pcallk(lua, arguments - 2, LUA_MULTRET, 2, 2, FinishCall);
  return FinishCall(lua, status, 2);
}

lua_State* CheckCoroutine(lua_State* lua) {
  lua_State* const coroutine = lua_tothread(lua, 1);
  luaL_argexpected(lua, coroutine != nullptr, 1, "coroutine");
  return coroutine;
}

// Moves `count` values over and runs. The number of results, which are on the stack of `lua`; or
// -1, and the error is.
int ResumeCoroutine(lua_State* lua, lua_State* coroutine, int count) {
  State& state = State::Of(lua);
  state.Charge(lua, kChargePerResume);
  if (lua_checkstack(coroutine, count) == 0) {
    lua_pushstring(lua, kStackOverflow);
    return -1;
  }
  lua_xmove(lua, coroutine, count);
  int results = 0;
  state.SetRunning(coroutine);
  const int status = lua_resume(coroutine, lua, count, &results);
  state.SetRunning(lua);
  if (status != LUA_OK && status != LUA_YIELD) {
    HandOn(lua, status);
    lua_xmove(coroutine, lua, 1);
    return -1;
  }
  if (lua_checkstack(lua, results + 1) == 0) {
    lua_pop(coroutine, results);
    lua_pushstring(lua, kStackOverflow);
    return -1;
  }
  lua_xmove(coroutine, lua, results);
  return results;
}

int Resume(lua_State* lua) {
  lua_State* const coroutine = CheckCoroutine(lua);
  const int results = ResumeCoroutine(lua, coroutine, lua_gettop(lua) - 1);
  lua_pushboolean(lua, results < 0 ? 0 : 1);
  const int count = results < 0 ? 1 : results;
  lua_insert(lua, -(count + 1));
  return count + 1;
}

int CallWrapped(lua_State* lua) {
  lua_State* const coroutine = lua_tothread(lua, lua_upvalueindex(1));
  const int results = ResumeCoroutine(lua, coroutine, lua_gettop(lua));
  if (results >= 0) return results;
  if (lua_type(lua, -1) == LUA_TSTRING) {
    luaL_where(lua, 1);
    lua_insert(lua, -2);
    lua_concat(lua, 2);
  }
  return lua_error(lua);
}

int Wrap(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TFUNCTION);
  lua_State* const coroutine = lua_newthread(lua);
  lua_pushvalue(lua, 1);
  lua_xmove(lua, coroutine, 1);
  lua_pushcclosure(lua, CallWrapped, 1);
  return 1;
}

int Close(lua_State* lua) {
  lua_State* const coroutine = CheckCoroutine(lua);
  lua_Debug frame;
  const bool runs = coroutine == lua ||
                    (lua_status(coroutine) == LUA_OK && lua_getstack(coroutine, 0, &frame) != 0);
  if (runs) return luaL_error(lua, "cannot close a running coroutine");
  const int status = lua_resetthread(coroutine);
  HandOn(lua, status);
  lua_pushboolean(lua, status == LUA_OK ? 1 : 0);
  if (status == LUA_OK) return 1;
  lua_xmove(coroutine, lua, 1);
  return 2;
}

}  // namespace

void AddProtectedCalls(lua_State* lua) {
  lua_pushcfunction(lua, ProtectedCall);
  lua_setfield(lua, -2, "pcall");
  lua_pushcfunction(lua, ProtectedCallWithHandler);
  lua_setfield(lua, -2, "xpcall");
  constexpr luaL_Reg kFunctions[] = {
      {"resume", Resume}, {"wrap", Wrap}, {"close", Close}, {nullptr, nullptr}};
  lua_getfield(lua, -1, "coroutine");
  luaL_setfuncs(lua, kFunctions, 0);
  lua_pop(lua, 1);
}

}  // namespace sluice::lua
