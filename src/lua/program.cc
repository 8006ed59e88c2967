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

// Splits "name:12: message" into the line and the message.
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

// A table of the outermost variables that are functions when the text has run.
std::string ReturnOf(const std::vector<std::string>& names) {
  std::string text = "return {";
  for (const std::string& name : names) text += fmt::format("{0}={0},", name);
  return text + "}";
}

}  // namespace

Result<std::shared_ptr<const Program>> Program::Compile(std::string_view name,
                                                        std::string_view source, Numbers numbers) {
  name = name.substr(0, kMaxName);
  if (source.size() > kMaxSourceBytes) {
    return Fail(Code::kTooLarge, "lua.too_large", "the text has {} bytes; the most is {}",
                source.size(), kMaxSourceBytes);
  }
  ASSIGN_OR_RETURN(Dialect dialect, ToPlainLua(source, numbers));
  // Compiles the text alone first, so that errors are those of the text and not of the added code.
  if (const auto plain = CompileText(name, dialect.text); !plain) return Unexpected(plain.error());
  const std::string text = dialect.text + "\n" + ReturnOf(dialect.outermost);
  Program program(std::string(name), "", std::move(dialect.outermost), numbers);
  // A text of nothing is a place for one that comes later; running it is the error.
  const bool empty = source.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (!empty && !program.Has("main") && !program.Has(name) &&
      !(program.Has("step") && program.Has("final"))) {
    return Fail(Code::kInvalidArgument, "lua.no_entry",
                "the text has no 'local function main'; one that is a function of SQL has '{}', or "
                "'step' and 'final'",
                name);
  }
  auto code = CompileText(name, text);
  if (!code) {
    return Fail(Code::kInvalidArgument, "lua.syntax",
                "the text ends with a return statement; the server runs the functions in it");
  }
  return std::shared_ptr<const Program>(
      new Program(program.name_, std::move(*code), program.functions_, numbers));
}

}  // namespace sluice::lua
