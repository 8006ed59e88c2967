// Any document, stamped at the root and in an object: the outcome is JSON, has the server's values,
// and all else of it is as it was.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "doctype/document_text.h"
#include "doctype/limits.h"
#include "doctype/stamps.h"
#include "doctype/type_reader.h"
#include "json/compare.h"
#include "json/parse.h"

namespace sluice::doctype {
namespace {

using json::Value;

Type TypeOf(std::string_view text) {
  const FileReader files = [](const std::string&) -> Result<std::string> { return ""; };
  Problems problems;
  auto type = ReadType(text, "fuzz.yaml", files, &problems);
  CHECK(type.has_value());
  return std::move(*type);
}

void CheckKept(const Value& before, const Value& after, const Properties& properties) {
  const auto is_stamp = [&](std::string_view name) {
    for (const std::string& stamp : properties.names) {
      if (stamp == name) return true;
    }
    return false;
  };
  for (const json::Field& field : before.fields()) {
    if (!is_stamp(field.name())) CHECK(json::Equal(field.value, after[field.name()]));
  }
  for (const json::Field& field : after.fields()) {
    CHECK(is_stamp(field.name()) || before.Find(field.name()) != nullptr);
  }
}

void RunWith(const Type& type, std::string_view text) {
  const auto spans = StampSpans::Find(text, type.properties);
  const auto before = json::Parse(text);
  if (!before) return;
  static_cast<void>(CheckLimits(type, text));
  const auto stamped =
      ApplyStamps(type, {.document = text, .present = text, .actor = "joe", .now_ms = 1000});
  CHECK(!stamped || spans.has_value());
  if (!stamped) return;
  const auto after = json::Parse(stamped->document);
  CHECK(after.has_value());
  const Properties& properties = type.properties;
  const Value& holder = properties.object.empty() ? *after : (*after)[properties.object];
  CHECK(holder[properties.name(Stamp::kType)] == Value("user"));
  CHECK(holder[properties.name(Stamp::kModified)] == Value(1000));
  CHECK(holder[properties.name(Stamp::kModifiedBy)] == Value("joe"));
  CHECK(holder[properties.name(Stamp::kVersion)] == Value(static_cast<int64_t>(stamped->version)));
  if (properties.object.empty()) return CheckKept(*before, *after, properties);
  CheckKept((*before)[properties.object], holder, properties);
  for (const json::Field& field : before->fields()) {
    if (field.name() != properties.object) CHECK(json::Equal(field.value, (*after)[field.name()]));
  }
}

void Run(std::string_view text) {
  static const Type root = TypeOf(
      "type: user\nkeyspace: b\nmatch: {property: _type}\n"
      "properties: {version: _ver, created: _created, modified: _mod, createdBy: _cb, "
      "modifiedBy: _mb}\nlimits: {bytes: 1KB, depth: 5, array: {a: 3}}\n");
  static const Type nested = TypeOf(
      "type: user\nkeyspace: b\nmatch: {property: meta.type}\n"
      "properties: {object: meta, type: type, version: v, created: c, modified: m, modifiedBy: "
      "b}\n");
  RunWith(root, text);
  RunWith(nested, text);
}

}  // namespace
}  // namespace sluice::doctype

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::doctype::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
