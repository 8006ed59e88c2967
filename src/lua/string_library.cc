// string.find, match, gmatch, gsub and rep, with counted steps.
#include <cstring>
#include <string>
#include <string_view>

#include "lua/sandbox.h"
#include "lua/state.h"
#include "lua/values.h"

namespace sluice::lua {
namespace {

constexpr uint64_t kBytesPerStep = 64;

std::string_view CheckString(lua_State* lua, int index) {
  size_t length = 0;
  const char* const text = luaL_checklstring(lua, index, &length);
  return {text, length};
}

// A position as Lua counts them, from either end, as an offset; past the end it is size + 1.
size_t StartOf(lua_Integer position, size_t size) {
  const auto length = static_cast<lua_Integer>(size);
  if (position > 0) return position > length ? size + 1 : static_cast<size_t>(position - 1);
  if (position == 0 || position < -length) return 0;
  return static_cast<size_t>(length + position);
}

void CheckPattern(lua_State* lua, const PatternMatcher& matcher) {
  if (matcher.error() != nullptr) luaL_error(lua, "%s", matcher.error());
}

void PushPart(lua_State* lua, std::string_view subject, const PatternMatcher::Capture& capture) {
  if (capture.is_position) {
    lua_pushinteger(lua, static_cast<lua_Integer>(capture.start) + 1);
  } else {
    lua_pushlstring(lua, subject.data() + capture.start, capture.length);
  }
}

// The captures; without any, the whole match if asked for.
int PushCaptures(lua_State* lua, PatternMatcher& matcher, std::string_view subject, size_t start,
                 size_t end, bool whole) {
  if (!matcher.Complete()) CheckPattern(lua, matcher);
  luaL_checkstack(lua, PatternMatcher::kMaxCaptures + 1, "too many captures");
  if (matcher.captures() == 0 && whole) {
    lua_pushlstring(lua, subject.data() + start, end - start);
    return 1;
  }
  for (size_t i = 0; i < matcher.captures(); ++i) PushPart(lua, subject, matcher.capture(i));
  return static_cast<int>(matcher.captures());
}

int FindPlain(lua_State* lua, std::string_view subject, std::string_view text, size_t start) {
  State::Of(lua).Charge(lua, (subject.size() - start + text.size()) / kBytesPerStep);
  // memmem needs no more time than the two are long; other searches do.
  const void* const found =
      memmem(subject.data() + start, subject.size() - start, text.data(), text.size());
  if (found == nullptr) {
    lua_pushnil(lua);
    return 1;
  }
  const auto at = static_cast<const char*>(found) - subject.data();
  lua_pushinteger(lua, at + 1);
  lua_pushinteger(lua, at + static_cast<lua_Integer>(text.size()));
  return 2;
}

int FindOrMatch(lua_State* lua, bool find) {
  const std::string_view subject = CheckString(lua, 1);
  std::string_view pattern = CheckString(lua, 2);
  size_t start = StartOf(luaL_optinteger(lua, 3, 1), subject.size());
  if (start > subject.size()) {
    lua_pushnil(lua);
    return 1;
  }
  if (find && (lua_toboolean(lua, 4) != 0 || IsPlainPattern(pattern))) {
    return FindPlain(lua, subject, pattern, start);
  }
  const bool anchored = pattern.starts_with('^');
  if (anchored) pattern.remove_prefix(1);
  PatternMatcher matcher(subject, pattern, State::Of(lua));
  for (; start <= subject.size(); ++start) {
    const size_t end = matcher.MatchAt(start);
    CheckPattern(lua, matcher);
    if (end != PatternMatcher::kNone) {
      if (!find) return PushCaptures(lua, matcher, subject, start, end, true);
      lua_pushinteger(lua, static_cast<lua_Integer>(start) + 1);
      lua_pushinteger(lua, static_cast<lua_Integer>(end));
      return 2 + PushCaptures(lua, matcher, subject, start, end, false);
    }
    if (anchored) break;
  }
  lua_pushnil(lua);
  return 1;
}

int Find(lua_State* lua) { return FindOrMatch(lua, true); }
int Match(lua_State* lua) { return FindOrMatch(lua, false); }

// Upvalues: subject, pattern, the position to continue at, the end of the last match (-1: none).
int NextMatch(lua_State* lua) {
  const std::string_view subject = CheckString(lua, lua_upvalueindex(1));
  const std::string_view pattern = CheckString(lua, lua_upvalueindex(2));
  const lua_Integer last = lua_tointeger(lua, lua_upvalueindex(4));
  PatternMatcher matcher(subject, pattern, State::Of(lua));
  auto start = static_cast<size_t>(lua_tointeger(lua, lua_upvalueindex(3)));
  for (; start <= subject.size(); ++start) {
    const size_t end = matcher.MatchAt(start);
    CheckPattern(lua, matcher);
    if (end == PatternMatcher::kNone || static_cast<lua_Integer>(end) == last) continue;
    for (const int upvalue : {3, 4}) {
      lua_pushinteger(lua, static_cast<lua_Integer>(end));
      lua_replace(lua, lua_upvalueindex(upvalue));
    }
    return PushCaptures(lua, matcher, subject, start, end, true);
  }
  return 0;
}

int MatchAll(lua_State* lua) {
  const size_t size = CheckString(lua, 1).size();
  CheckString(lua, 2);
  const size_t start = StartOf(luaL_optinteger(lua, 3, 1), size);
  lua_settop(lua, 2);
  lua_pushinteger(lua, static_cast<lua_Integer>(start));
  lua_pushinteger(lua, -1);
  lua_pushcclosure(lua, NextMatch, 4);
  return 1;
}

// gsub: makes the text that replaces one match.
class Replacer {
 public:
  Replacer(lua_State* lua, std::string_view subject) : lua_(lua), subject_(subject) {
    const int type = lua_type(lua, 3);
    luaL_argexpected(
        lua,
        type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TTABLE || type == LUA_TFUNCTION,
        3, "string/function/table");
  }

  void Append(PatternMatcher& matcher, size_t start, size_t end, luaL_Buffer* out) {
    const std::string_view match = subject_.substr(start, end - start);
    const int type = lua_type(lua_, 3);
    if (type == LUA_TNUMBER || type == LUA_TSTRING) {
      return AppendTemplate(matcher, match, out);
    }
    if (type == LUA_TFUNCTION) {
      lua_pushvalue(lua_, 3);
      const int arguments = PushCaptures(lua_, matcher, subject_, start, end, true);
      lua_call(lua_, arguments, 1);
    } else {
      PushFirst(matcher, match);
      lua_gettable(lua_, 3);
    }
    if (lua_toboolean(lua_, -1) == 0) {
      lua_pop(lua_, 1);
      return luaL_addlstring(out, match.data(), match.size());
    }
    if (lua_isstring(lua_, -1) == 0) {
      luaL_error(lua_, "invalid replacement value (a %s)", luaL_typename(lua_, -1));
    }
    if (State::Of(lua_).doubles && lua_type(lua_, -1) == LUA_TNUMBER) {
      PushNumberText(lua_, -1);
      lua_remove(lua_, -2);
    }
    luaL_addvalue(out);
  }

 private:
  void PushFirst(PatternMatcher& matcher, std::string_view match) {
    if (!matcher.Complete()) CheckPattern(lua_, matcher);
    if (matcher.captures() > 0) return PushPart(lua_, subject_, matcher.capture(0));
    lua_pushlstring(lua_, match.data(), match.size());
  }

  // %0 is the match, %1 a capture (or the match, if the pattern has none), %% a percent sign.
  void AppendTemplate(PatternMatcher& matcher, std::string_view match, luaL_Buffer* out) {
    if (!matcher.Complete()) CheckPattern(lua_, matcher);
    size_t length = 0;
    const char* const text = lua_tolstring(lua_, 3, &length);
    for (size_t i = 0; i < length; ++i) {
      if (text[i] != '%') {
        luaL_addchar(out, text[i]);
        continue;
      }
      const char next = ++i < length ? text[i] : '\0';
      const auto index = static_cast<size_t>(next - '1');
      if (next == '%') {
        luaL_addchar(out, '%');
      } else if (next == '0' || (next == '1' && matcher.captures() == 0)) {
        luaL_addlstring(out, match.data(), match.size());
      } else if (next >= '1' && next <= '9' && index < matcher.captures()) {
        PushPart(lua_, subject_, matcher.capture(index));
        luaL_addvalue(out);
      } else if (next >= '1' && next <= '9') {
        luaL_error(lua_, "invalid capture index %%%d in replacement string", next - '0');
      } else {
        luaL_error(lua_, "invalid use of '%%' in replacement string");
      }
    }
  }

  lua_State* const lua_;
  const std::string_view subject_;
};

int Substitute(lua_State* lua) {
  const std::string_view subject = CheckString(lua, 1);
  std::string_view pattern = CheckString(lua, 2);
  Replacer replacer(lua, subject);
  const lua_Integer most = luaL_optinteger(lua, 4, static_cast<lua_Integer>(subject.size()) + 1);
  const bool anchored = pattern.starts_with('^');
  if (anchored) pattern.remove_prefix(1);
  State& state = State::Of(lua);
  PatternMatcher matcher(subject, pattern, state);
  luaL_Buffer out;
  luaL_buffinit(lua, &out);
  lua_Integer count = 0;
  size_t start = 0;
  size_t last = PatternMatcher::kNone;
  while (count < most) {
    const size_t end = matcher.MatchAt(start);
    CheckPattern(lua, matcher);
    state.Charge(lua, 1);
    if (end != PatternMatcher::kNone && end != last) {
      ++count;
      replacer.Append(matcher, start, end, &out);
      start = last = end;
    } else if (start < subject.size()) {
      luaL_addchar(&out, subject[start]);
      ++start;
    } else {
      break;
    }
    if (anchored) break;
  }
  if (start < subject.size()) {
    luaL_addlstring(&out, subject.data() + start, subject.size() - start);
  }
  luaL_pushresult(&out);
  lua_pushinteger(lua, count);
  return 2;
}

int Repeat(lua_State* lua) {
  const std::string_view text = CheckString(lua, 1);
  const lua_Integer count = luaL_checkinteger(lua, 2);
  size_t separator_length = 0;
  const char* const separator = luaL_optlstring(lua, 3, "", &separator_length);
  const uint64_t each = text.size() + separator_length;
  if (count <= 0 || each == 0) {
    lua_pushliteral(lua, "");
    return 1;
  }
  uint64_t total = 0;
  if (__builtin_mul_overflow(each, static_cast<uint64_t>(count), &total) || total > INT64_MAX) {
    return luaL_error(lua, "resulting string too large");
  }
  State::Of(lua).Charge(lua, total / kBytesPerStep);
  luaL_Buffer out;
  char* to = luaL_buffinitsize(lua, &out, total - separator_length);
  for (lua_Integer i = 0; i < count; ++i) {
    std::memcpy(to, text.data(), text.size());
    to += text.size();
    if (i + 1 == count) break;
    std::memcpy(to, separator, separator_length);
    to += separator_length;
  }
  luaL_pushresultsize(&out, total - separator_length);
  return 1;
}

}  // namespace

void AddStringFunctions(lua_State* lua) {
  constexpr luaL_Reg kFunctions[] = {{"find", Find},       {"match", Match}, {"gmatch", MatchAll},
                                     {"gsub", Substitute}, {"rep", Repeat},  {nullptr, nullptr}};
  lua_getfield(lua, -1, "string");
  luaL_setfuncs(lua, kFunctions, 0);
  lua_pushnil(lua);
  lua_setfield(lua, -2, "dump");
  lua_pop(lua, 1);
}

}  // namespace sluice::lua
