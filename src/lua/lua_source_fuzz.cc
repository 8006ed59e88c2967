// Any text: compiling never fails but with a status, lines stay, and what compiles can be run
// within its limits.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "lua/dialect.h"
#include "lua/runtime.h"

namespace sluice::lua {
namespace {

void Run(std::string_view source) {
  const auto dialect = ToPlainLua(source);
  if (dialect) {
    CHECK(std::ranges::count(dialect->text, '\n') == std::ranges::count(source, '\n'));
  }
  const auto program = Program::Compile("fuzz", source);
  if (!program) {
    CHECK(!program.error().message().empty());
    return;
  }
  script::Outcome failed;
  const auto runtime = Runtime::Start(
      {.program = *program, .limits = {.instructions = 20'000, .memory_bytes = 4 << 20}}, &failed);
  if (runtime == nullptr) return CHECK(!failed.ok());
  const Finished finished = runtime->Call({Value(1), Value("text"), Value(nullptr)});
  CHECK(finished.ok() || !finished.outcome.message.empty());
}

}  // namespace
}  // namespace sluice::lua

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::lua::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
