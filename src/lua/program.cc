#include "lua/program.h"

#include <charconv>
#include <cstdint>

#include "lua/dialect.h"
#include "lua/state.h"

namespace sluice::lua {
namespace {

constexpr uint64_t kCompilerMemory = 256 << 20;
// Errors show no more of a text's name.
constexpr size_t kMaxName = 31;

// "name:12: what" as the line and the rest.
Status SyntaxError(std::string_view name, std::string_view message) {
  uint32_t line = 0;
  if (message.starts_with(name) && message.substr(name.size()).starts_with(':')) {
    const std::string_view rest = message.substr(name.size() + 1);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
    if (error == std::errc()) message = rest.substr(static_cast<size_t>(end - rest.data()));
    if (message.starts_with(": ")) message.remove_prefix(2);
  }
  if (line == 0) return Error(Code::kInvalidArgument, "lua.syntax", "{}", message);
  return Error(Code::kInvalidArgument, "lua.syntax", "line {}: {}", line, message)
      .At({.file = "", .line = line, .column = 0});
}

int Write(lua_State*, const void* bytes, size_t size, void* out) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
  return 0;
}

// Loading, without a call, runs nothing of the text.
Result<std::string> CompileText(std::string_view name, std::string_view text) {
  State state(kCompilerMemory);
  lua_State* const lua = state.lua();
  if (lua == nullptr) return Fail(Code::kInternal, "lua.host", "no memory for the Lua compiler");
  const std::string chunk = "=" + std::string(name);
  if (luaL_loadbufferx(lua, text.data(), text.size(), chunk.c_str(), "t") != LUA_OK) {
    size_t length = 0;
    const char* const message = lua_tolstring(lua, -1, &length);
    return Unexpected(
        SyntaxError(name, message == nullptr ? "" : std::string_view(message, length)));
  }
  std::string code;
  lua_dump(lua, Write, &code, 0);
  return code;
}

}  // namespace

Result<std::shared_ptr<const Program>> Program::Compile(std::string_view name,
                                                        std::string_view source,
                                                        std::string_view entry) {
  name = name.substr(0, kMaxName);
  if (source.size() > kMaxSourceBytes) {
    return Fail(Code::kTooLarge, "lua.too_large", "the text has {} bytes; the most is {}",
                source.size(), kMaxSourceBytes);
  }
  ASSIGN_OR_RETURN(Dialect dialect, ToPlainLua(source, entry));
  // By itself first, so that its own errors are told and not those of what is added.
  ASSIGN_OR_RETURN(std::string code, CompileText(name, dialect.text));
  if (!dialect.defines_entry) {
    return Fail(Code::kInvalidArgument, "lua.no_entry", "the text has no 'local function {}'",
                entry);
  }
  auto with_entry = CompileText(name, dialect.text + "\nreturn " + std::string(entry));
  if (!with_entry) {
    return Fail(Code::kInvalidArgument, "lua.syntax",
                "the text ends with a return statement; the functions in it are what is run");
  }
  return std::shared_ptr<const Program>(new Program(std::string(name), std::move(*with_entry)));
}

}  // namespace sluice::lua
