// Bodies of requests as REST automation reads them: any bytes are XML or a problem, and what they
// are can be printed and read again; any bytes are parts of an upload or a problem, and parts lie
// inside.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "json/print.h"
#include "rest/multipart.h"
#include "rest/xml.h"

namespace sluice::rest {
namespace {

void ReadXml(std::string_view text) {
  const auto value = ParseXml(text);
  if (!value) {
    CHECK(value.error().id() == "flow.bad_body");
    return;
  }
  CHECK(IsValidUtf8(json::ToText(*value)));
  CHECK(ParseXml(PrintXml(*value)).has_value());
}

void ReadParts(std::string_view body) {
  const auto parts = ParseMultipart("multipart/form-data; boundary=xyz", body);
  if (!parts) {
    CHECK(parts.error().id() == "flow.bad_body");
    return;
  }
  CHECK(parts->size() <= kMaxParts);
  for (const Part& part : *parts) {
    CHECK(part.body.data() >= body.data());
    CHECK(part.body.data() + part.body.size() <= body.data() + body.size());
  }
}

}  // namespace
}  // namespace sluice::rest

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sluice::rest::ReadXml(bytes);
  sluice::rest::ReadParts(bytes);
  return 0;
}
