// Arithmetic: whole numbers stay whole (division cuts), a decimal makes the result one, text that
// is a number counts as one. A calculation without a result aborts the flow.
#include <cmath>
#include <limits>

#include "flow/plugin.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

using json::Value;

bool IsWhole(const Value& value) {
  if (value.is_int()) return true;
  return value.is_string() && value.AsString().find_first_of(".eE") == std::string_view::npos;
}

struct Operation {
  std::string_view name;
  bool (*whole)(int64_t a, int64_t b, int64_t* out);  // true when it overflows
  double (*decimal)(double a, double b);
  bool divides;
};

constexpr Operation kAdd = {
    "add", [](int64_t a, int64_t b, int64_t* out) { return __builtin_add_overflow(a, b, out); },
    [](double a, double b) { return a + b; }, false};
constexpr Operation kSubtract = {
    "subtract",
    [](int64_t a, int64_t b, int64_t* out) { return __builtin_sub_overflow(a, b, out); },
    [](double a, double b) { return a - b; }, false};
constexpr Operation kMultiply = {
    "multiply",
    [](int64_t a, int64_t b, int64_t* out) { return __builtin_mul_overflow(a, b, out); },
    [](double a, double b) { return a * b; }, false};
constexpr Operation kDivide = {"div",
                               [](int64_t a, int64_t b, int64_t* out) {
                                 if (b == -1) return __builtin_sub_overflow(int64_t{0}, a, out);
                                 *out = a / b;
                                 return false;
                               },
                               [](double a, double b) { return a / b; }, true};
constexpr Operation kModulo = {"mod",
                               [](int64_t a, int64_t b, int64_t* out) {
                                 *out = b == -1 ? 0 : a % b;
                                 return false;
                               },
                               [](double a, double b) { return std::fmod(a, b); }, true};

Result<Value> Apply(const Operation& operation, const Value& a, const Value& b) {
  const auto left = NumberOf(a);
  const auto right = NumberOf(b);
  if (!left || !right) {
    return BadArgument(operation.name, fmt::format("'{}' is not a number", TextOf(left ? b : a)));
  }
  if (operation.divides && *right == 0) return BadArgument(operation.name, "division by zero");
  if (IsWhole(a) && IsWhole(b)) {
    const auto whole_left = WholeNumberOf(a);
    const auto whole_right = WholeNumberOf(b);
    int64_t out = 0;
    if (whole_left && whole_right && !operation.whole(*whole_left, *whole_right, &out)) return out;
    return BadArgument(operation.name, "the result does not fit into 64 bits");
  }
  const double out = operation.decimal(*left, *right);
  if (!std::isfinite(out)) return BadArgument(operation.name, "the result is out of range");
  return Value(out);
}

Result<Value> Fold(const Operation& operation, const PluginInput& input) {
  Value total = input.args[0];
  for (const Value& each : input.args.subspan(1)) {
    ASSIGN_OR_RETURN(total, Apply(operation, total, each));
  }
  return total;
}

Result<Value> Add(const PluginInput& input) { return Fold(kAdd, input); }
Result<Value> Subtract(const PluginInput& input) { return Fold(kSubtract, input); }
Result<Value> Multiply(const PluginInput& input) { return Fold(kMultiply, input); }
Result<Value> Divide(const PluginInput& input) { return Fold(kDivide, input); }
Result<Value> Modulo(const PluginInput& input) { return Fold(kModulo, input); }
Result<Value> Increment(const PluginInput& input) { return Apply(kAdd, input.args[0], 1); }
Result<Value> Decrement(const PluginInput& input) { return Apply(kSubtract, input.args[0], 1); }

// Half goes up, away from zero.
Result<Value> Round(const PluginInput& input) {
  const auto number = NumberOf(input.args[0]);
  const auto places =
      input.args.size() > 1 ? WholeNumberOf(input.args[1]) : std::optional<int64_t>(0);
  if (!number || !places) return BadArgument("round", "two numbers are expected");
  if (*places < 0 || *places > 15) return BadArgument("round", "0 to 15 places are expected");
  const double factor = std::pow(10.0, static_cast<double>(*places));
  const double scaled = *number * factor;
  if (!std::isfinite(scaled)) return Value(*number);
  // 1.005 is a little less than it looks: the nearest text decides, not the last bit.
  const double nudged = std::nextafter(scaled, scaled < 0 ? -INFINITY : INFINITY);
  const double rounded = std::round(nudged) / factor;
  if (*places == 0 && std::abs(rounded) < 9e15) return static_cast<int64_t>(rounded);
  return Value(rounded);
}

constexpr Plugin kNumberPlugins[] = {
    {"add", 2, kManyArguments, Add},
    {"subtract", 2, kManyArguments, Subtract},
    {"multiply", 2, kManyArguments, Multiply},
    {"div", 2, 2, Divide},
    {"mod", 2, 2, Modulo},
    {"increment", 1, 1, Increment},
    {"decrement", 1, 1, Decrement},
    {"round", 1, 2, Round},
};

}  // namespace

std::span<const Plugin> NumberPlugins() { return kNumberPlugins; }

}  // namespace sluice::flow
