#include "flow_engine/rest_config.h"

#include <algorithm>

#include "flow/text_form.h"
#include "flow_engine/path_parts.h"

namespace sluice::flow_engine {
namespace {

using flow::LowerCase;

bool Matches(const Endpoint& endpoint, const std::vector<std::string_view>& path,
             std::vector<std::pair<std::string, std::string>>* parameters) {
  parameters->clear();
  const auto& segments = endpoint.segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (i >= path.size()) return false;
    switch (segments[i].kind) {
      case Segment::Kind::kText:
        if (LowerCase(path[i]) != segments[i].text) return false;
        break;
      case Segment::Kind::kParameter:
        parameters->emplace_back(segments[i].text, path[i]);
        break;
      case Segment::Kind::kPrefix:
        if (!LowerCase(path[i]).starts_with(segments[i].text)) return false;
        if (i + 1 == segments.size()) return true;
        break;
      case Segment::Kind::kRest:
        return true;
    }
  }
  return segments.size() == path.size();
}

}  // namespace

RestConfig::Match RestConfig::Find(std::string_view method, std::string_view path) const {
  Match match;
  const std::vector<std::string_view> parts = SplitPath(path);
  for (const Endpoint& endpoint : endpoints) {
    std::vector<std::pair<std::string, std::string>> parameters;
    if (!Matches(endpoint, parts, &parameters)) continue;
    match.path_known = true;
    if (match.options == nullptr && endpoint.cors != nullptr) match.options = &endpoint;
    if (std::ranges::find(endpoint.methods, method) == endpoint.methods.end()) continue;
    match.endpoint = &endpoint;
    match.parameters = std::move(parameters);
    return match;
  }
  return match;
}

std::string RelayRoute(const Endpoint& endpoint) {
  return endpoint.relay + (endpoint.certificates == Certificates::kTrusted ? "#trusted" : "");
}

}  // namespace sluice::flow_engine
