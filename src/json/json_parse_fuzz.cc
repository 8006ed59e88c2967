// Any text: Validate agrees with Parse, printing what was parsed is stable, and extraction agrees
// with looking into the parsed value.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/extract.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::json {
namespace {

void CheckStable(const Value& value, const PrintOptions& options) {
  const std::string printed = ToText(value, options);
  const auto again = Parse(printed);
  CHECK(again.has_value());
  CHECK(*again == value);
  CHECK(again->Hash() == value.Hash());
  CHECK(ToText(*again, options) == printed);
}

void CheckExtraction(std::string_view text, const Value& value) {
  static const std::vector<Path> paths = {*Path::Parse(""),      *Path::Parse("a"),
                                          *Path::Parse("a.b"),   *Path::Parse("[0]"),
                                          *Path::Parse("a[-1]"), *Path::Parse("[-2].a")};
  static const Extractor extractor(paths);
  const auto values = extractor.Values(text);
  CHECK(values.has_value());
  for (size_t i = 0; i < paths.size(); ++i) {
    CHECK((*values)[i] == paths[i].Get(value));
    const auto raw = FindRaw(text, paths[i]);
    CHECK(raw.has_value() && raw->has_value() == !(*values)[i].is_missing());
    if (raw->has_value()) CHECK(*Parse(**raw) == (*values)[i]);
  }
}

void Run(std::string_view text) {
  const auto value = Parse(text);
  const Status valid = Validate(text);
  CHECK(valid.ok() == value.has_value());
  if (!value) {
    CHECK(valid.ToString() == value.error().ToString());
    (void)FindRaw(text, *Path::Parse("a[-1]"));
    (void)Extractor({*Path::Parse("a.b[1]"), *Path::Parse("[-1]")}).Raw(text);
    return;
  }
  CheckStable(*value, {});
  CheckStable(*value, {.indent = 2});
  CheckStable(*value, {.order = PrintOptions::Order::kSorted});
  CheckExtraction(text, *value);
}

}  // namespace
}  // namespace sluice::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::json::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
