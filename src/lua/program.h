// A procedure's text, checked and compiled once. Immutable: any number of runtimes share one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::lua {

// The longest text of a procedure.
inline constexpr size_t kMaxSourceBytes = 1 << 20;

class Program {
 public:
  // `name` is what errors call the text; `entry` is the local function that a call runs. Errors:
  // lua.syntax with the line, lua.too_large, lua.no_entry.
  static Result<std::shared_ptr<const Program>> Compile(std::string_view name,
                                                        std::string_view source,
                                                        std::string_view entry = "main");

  const std::string& name() const { return name_; }
  // What the Lua compiler made of it.
  const std::string& code() const { return code_; }

 private:
  Program(std::string name, std::string code) : name_(std::move(name)), code_(std::move(code)) {}

  const std::string name_;
  const std::string code_;
};

}  // namespace sluice::lua
