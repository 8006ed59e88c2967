// Any text as a type file: what is read can be printed as JSON and read again as the same, and its
// schemas compile or say why not.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "doctype/schema/schema.h"
#include "doctype/type_json.h"
#include "doctype/type_reader.h"
#include "doctype/type_set.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

void Run(std::string_view text) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path.ends_with(".json")) return R"({"type":"object"})";
    if (path.ends_with(".js")) return "module.exports = {};";
    return Fail(Code::kNotFound, "type.unreadable_file", "there is no file '{}'", path);
  };
  Problems problems;
  auto type = ReadType(text, "fuzz.yaml", files, &problems);
  CHECK(type.has_value() == problems.ok());
  if (!type) return;
  const std::string printed = json::ToText(ToJson(*type));
  const auto parsed = json::Parse(printed);
  CHECK(parsed.has_value());
  const auto again = ReadTypeJson(*parsed, "fuzz.json", &problems);
  CHECK(again.has_value());
  CHECK(json::ToText(ToJson(*again)) == printed);
  for (const SchemaSource& source : type->schemas) {
    const auto schema = Schema::Compile(source.schema, "fuzz.json", source.text, &problems);
    if (schema != nullptr) schema->Validate(*parsed);
  }
  const TypeSet types({std::make_shared<const Type>(std::move(*type))});
  types.Find("user:1:v:2", printed);
  static_cast<void>(types.FindForWrite("user:1", printed));
}

}  // namespace
}  // namespace sluice::doctype

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::doctype::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
