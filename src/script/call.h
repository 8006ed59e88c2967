// Calls across the border of a script, in both directions. Documents cross it as JSON text, which
// the runtime parses and prints itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "json/value.h"

namespace sluice::script {

// The arguments that the host passes to a script. Views must be valid until the call returns.
struct Undefined {};
struct Null {};
struct Json {
  std::string_view text;
};
struct Bytes {
  std::string_view bytes;
};
// A value passed as several arguments: a function that makes it, and its parts; or undefined, and
// the value. Must be the last argument of a call.
struct Pieces {
  const json::Value* value;
};
using Argument = std::variant<Undefined, Null, bool, double, std::string_view, Json, Bytes, Pieces>;

enum class Kind : uint8_t {
  kUndefined,
  kNull,
  kBoolean,
  kNumber,
  kString,
  kBytes,
  kFunction,
  kSymbol,
  kBigInt,
  kObject,
};

// One call of a native function by a script: its arguments, and the way to answer. Exactly one
// Return or Throw; none means undefined. Valid during the call, on the script's thread.
class Call {
 public:
  virtual ~Call() = default;

  virtual size_t size() const = 0;
  virtual Kind kind(size_t index) const = 0;  // kUndefined past the end
  // Conversions as the language makes them; an empty result where it can't.
  virtual bool Boolean(size_t index) const = 0;
  virtual double Number(size_t index) const = 0;
  virtual std::string String(size_t index) const = 0;
  virtual std::string_view Bytes(size_t index) const = 0;  // of a kBytes
  // The line of the user's text that is being run, not of a library's that it has called; 0 where
  // that is not known. Not cheap.
  virtual int Line() const { return 0; }

  virtual void ReturnNull() = 0;
  virtual void Return(bool value) = 0;
  virtual void Return(double value) = 0;
  virtual void Return(std::string_view text) = 0;
  virtual void ReturnJson(std::string_view text) = 0;
  virtual void ReturnBytes(std::string_view bytes) = 0;
  // Several values at once, as an array.
  virtual void ReturnList(const std::vector<Argument>& values) = 0;
  // Throws an error of a class that the script's global object has, by name. `detail`, if not
  // empty, is JSON text that becomes the error's message instead of `message`.
  virtual void Throw(std::string_view type, std::string_view message,
                     std::string_view detail = {}) = 0;

  void Return(const char* text) { Return(std::string_view(text)); }
};

struct Native {
  std::string name;
  std::function<void(Call&)> run;
};

}  // namespace sluice::script
