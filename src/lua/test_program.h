// Runs a text of Lua in tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/print.h"
#include "lua/convert.h"
#include "lua/runtime.h"

namespace sluice::lua {

inline Finished RunText(std::string_view source, std::vector<Value> arguments = {},
                        RuntimeOptions options = {}) {
  Finished finished;
  auto program = Program::Compile("test", source);
  if (!program) {
    finished.outcome.ended = script::Ended::kThrew;
    finished.outcome.message = program.error().message();
    finished.outcome.place.line = static_cast<int>(program.error().place().line);
    return finished;
  }
  options.program = *program;
  if (options.limits.time_ms == 0) options.limits.time_ms = 20'000;
  const auto runtime = Runtime::Start(std::move(options), &finished.outcome);
  return runtime == nullptr ? finished : runtime->Call(arguments);
}

// The body of main; what it returns, as text, or the error.
inline std::string Eval(std::string_view body, std::vector<Value> arguments = {}) {
  const Finished finished =
      RunText("local function main(...) " + std::string(body) + "\nend", std::move(arguments));
  if (!finished.ok()) return "error: " + finished.outcome.message;
  std::string text;
  for (const Returned& returned : finished.values) {
    if (!text.empty()) text += ' ';
    const Value* const value = std::get_if<Value>(&returned);
    if (value == nullptr) {
      text += "object";
    } else if (value->is_array() || value->is_object()) {
      text += json::ToText(*value, {.order = json::PrintOptions::Order::kSorted});
    } else {
      text += TextOf(*value, {}, 3);
    }
  }
  return text;
}

}  // namespace sluice::lua
