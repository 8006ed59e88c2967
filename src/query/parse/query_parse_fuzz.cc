// Any text as a statement, an expression and an index key: what can be read prints as text that
// reads as the same.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "query/parse/parser.h"

namespace sluice::query {
namespace {

// Printed text may be longer than what was read (parentheses, AS, END), so it may hit a limit.
template <typename Parse>
void CheckRoundTrip(const std::string& printed, const Parse& parse) {
  if (printed.size() > kMaxStatementBytes) return;
  const auto again = parse(printed);
  if (!again && again.error().message().find("nested too deeply") != std::string::npos) return;
  CHECK(again.has_value());
}

void Run(std::string_view text) {
  if (const auto statement = ParseStatement(text)) {
    const std::string printed = ToText(*statement);
    CheckRoundTrip(printed, [&](const std::string& again) {
      auto parsed = ParseStatement(again);
      if (parsed) CHECK(ToText(*parsed) == printed);
      if (parsed) CHECK(parsed->positional_parameters == statement->positional_parameters);
      return parsed;
    });
  }
  if (const auto expression = ParseExpression(text)) {
    const std::string printed = ToText(**expression);
    const ExpressionPtr copy = Clone(**expression);
    CHECK(SameExpression(*copy, **expression));
    CheckRoundTrip(printed, [&](const std::string& again) {
      auto parsed = ParseExpression(again);
      if (parsed) CHECK(SameExpression(**parsed, **expression));
      return parsed;
    });
  }
  if (const auto key = ParseIndexKey(text)) {
    const std::string printed = ToText(*key);
    CheckRoundTrip(printed, [&](const std::string& again) {
      auto parsed = ParseIndexKey(again);
      if (parsed) CHECK(ToText(*parsed) == printed);
      return parsed;
    });
  }
}

}  // namespace
}  // namespace sluice::query

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::query::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
