// A procedure's text, checked and compiled once. Immutable: any number of runtimes share one.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lua/dialect.h"

namespace sluice::lua {

// The longest text of a procedure.
inline constexpr size_t kMaxSourceBytes = 1 << 20;

class Program {
 public:
  // Errors name the text `name`. The text must define the local function `main`, one with the name
  // `name`, or `step` and `final`. Errors: lua.syntax with the line, lua.too_large, lua.no_entry.
  static Result<std::shared_ptr<const Program>> Compile(std::string_view name,
                                                        std::string_view source,
                                                        Numbers numbers = Numbers::kDoubles);

  const std::string& name() const { return name_; }
  // Whether the text has a local with that name outside of its functions, which can be called.
  bool Has(std::string_view function) const {
    return std::ranges::find(functions_, function) != functions_.end();
  }
  Numbers numbers() const { return numbers_; }
  // The code from the Lua compiler.
  const std::string& code() const { return code_; }

 private:
  Program(std::string name, std::string code, std::vector<std::string> functions, Numbers numbers)
      : name_(std::move(name)),
        code_(std::move(code)),
        functions_(std::move(functions)),
        numbers_(numbers) {}

  const std::string name_;
  const std::string code_;  // returns a table of them
  const std::vector<std::string> functions_;
  const Numbers numbers_;
};

}  // namespace sluice::lua
