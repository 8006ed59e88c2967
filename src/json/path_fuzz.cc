// Any text as a path: printing what was parsed is stable, and the path finds the same in text and
// in a value.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/extract.h"
#include "json/parse.h"

namespace sluice::json {
namespace {

constexpr std::string_view kDocument =
    R"({"a":{"b":[1,{"c":null},[2,[3]]],"":{"`":true}},"x.y":[[],{"a":"z"}],"a]":{"[0]":5}})";

void Run(std::string_view text) {
  const auto path = Path::Parse(text);
  if (!path) return;
  const auto again = Path::Parse(path->ToString());
  if (path->ToString().size() <= kMaxPathBytes) CHECK(again.has_value() && *again == *path);
  const Value document = *Parse(kDocument);
  const Value& expected = path->Get(document);
  const auto raw = FindRaw(kDocument, *path);
  CHECK(raw.has_value());
  CHECK(raw->has_value() == !expected.is_missing());
  if (raw->has_value()) CHECK(*Parse(**raw) == expected);
}

}  // namespace
}  // namespace sluice::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::json::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
