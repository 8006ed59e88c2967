// Any text as rest.yaml: it is read or tells problems, and every endpoint that was read is found,
// or one that is more specific, by a path that its url describes.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "flow_engine/rest_config.h"

namespace sluice::flow_engine {
namespace {

// A path that the url matches.
std::string PathOf(const Endpoint& endpoint) {
  std::string path;
  for (const Segment& segment : endpoint.segments) {
    path += '/';
    if (segment.kind != Segment::Kind::kParameter) path += segment.text;
    if (segment.kind != Segment::Kind::kText) path += 'x';
  }
  return path;
}

void Read(std::string_view text) {
  static Route route("no.op", {}, nullptr);
  static const RestNames names{
      .find_route = [](std::string_view name) { return name == "no.op" ? &route : nullptr; },
      .has_flow = [](std::string_view flow) { return flow == "greetings"; },
      .routes = {"no.op"},
      .flows = {"greetings"}};
  const flow::FixedSettings settings;
  flow::Problems problems;
  const RestConfig config =
      ReadRestConfig({{"rest.yaml", std::string(text)}}, settings, names, &problems);
  for (const Endpoint& endpoint : config.endpoints) {
    CHECK(!endpoint.services.empty() && !endpoint.methods.empty());
    for (const std::string& method : endpoint.methods) {
      CHECK(config.Find(method, PathOf(endpoint)).endpoint != nullptr);
    }
  }
}

}  // namespace
}  // namespace sluice::flow_engine

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::flow_engine::Read({reinterpret_cast<const char*>(data), size});
  return 0;
}
