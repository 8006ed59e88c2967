// Any lines as data mappings, for input and for output: those that can be read are run, one after
// the other, on a small model.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "flow/mapping.h"
#include "flow/text_form.h"
#include "json/parse.h"

namespace sluice::flow {
namespace {

void RunAll(const std::vector<Mapping>& mappings, Side side) {
  static const json::Value input = *json::Parse(
      R"({"method":"GET","header":{"A":"b"},"body":{"n":2,"list":[1,{"id":"x"}],"text":"hello"}})");
  static const json::Value result = *json::Parse(R"({"a":[{"b":1.5}],"t":"dHh0","ok":true})");
  static const json::Value header = *json::Parse(R"({"X-Count":"3"})");
  json::Value model = *json::Parse(R"({"n":1,"key":"k","list":["a","b"],"flag":"true"})");
  json::Value shared = json::Value::EmptyObject();
  std::vector<std::string> complaints;
  Mapped mapped;
  Scope scope;
  scope.view = {&model, &shared};
  scope.input = &input;
  if (side == Side::kOutput) {
    scope.result = &result;
    scope.header = &header;
  }
  scope.now_ms = 1'700'000'000'000;
  scope.complaints = &complaints;
  const Status status = RunMappings(mappings, scope, {&model, &shared, &mapped});
  if (!status.ok()) CHECK(!status.id().empty());
  CHECK(model.is_object() && shared.is_object() && mapped.headers.is_object());
  for (const json::Field& field : mapped.headers.fields()) CHECK(field.value.is_string());
  CHECK(CheckSize(mapped.body).ok());
}

void ParseAll(std::string_view text, Side side) {
  const FixedSettings settings({}, *json::Parse(R"({"db":{"pool":5}})"));
  ParseContext context;
  context.side = side;
  context.settings = &settings;
  std::vector<Mapping> mappings;
  while (true) {
    const size_t end = text.find('\n');
    auto parsed = ParseMapping(text.substr(0, end), context);
    if (parsed) {
      mappings.insert(mappings.end(), parsed->begin(), parsed->end());
    } else {
      CHECK(!parsed.error().id().empty());
    }
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  RunAll(mappings, side);
}

}  // namespace
}  // namespace sluice::flow

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  sluice::flow::ParseAll(text, sluice::flow::Side::kInput);
  sluice::flow::ParseAll(text, sluice::flow::Side::kOutput);
  return 0;
}
