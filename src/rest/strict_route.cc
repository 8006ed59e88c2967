#include "rest/strict_route.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"

namespace sluice::rest {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kStrict[] = {"/v1/docs", "/v1/import", "/v1/types", "/v1/advice"};

Status CheckNames(const Request& request, const Names& known) {
  for (const auto& [name, value] : request.query()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string all =
        known.empty() ? std::string("none") : fmt::format("{}", fmt::join(known, ", "));
    return Error(Code::kInvalidArgument, "http.unknown_parameter",
                 "there is no query parameter '{}' here{} (there are: {})", name,
                 DidYouMean(name, known), all)
        .With("parameter", name);
  }
  return OkStatus();
}

void MakeStrict(Route* route) {
  const auto known = std::make_shared<Names>();
  for (const Parameter& parameter : route->parameters) {
    if (parameter.in == Parameter::In::kQuery) known->push_back(parameter.name);
  }
  if (route->handler.plain) {
    route->handler = [known, next = std::move(route->handler.plain)](Request& request,
                                                                     Response& response) {
      const Status named = CheckNames(request, *known);
      if (!named.ok()) return response.Error(named);
      next(request, response);
    };
  } else {
    route->handler = [known, next = std::move(route->handler.waiting)](
                         Request& request, Response& response) -> Task<> {
      const Status named = CheckNames(request, *known);
      if (named.ok()) return next(request, response);
      response.Error(named);
      return {};
    };
  }
}

}  // namespace

void RefuseUnknownParameters(const Router& router) {
  for (const auto& route : router.routes()) {
    if (std::ranges::any_of(kStrict, [&](std::string_view path) {
          return route->path == path || route->path.starts_with(std::string(path) + "/");
        })) {
      MakeStrict(route.get());
    }
  }
}

}  // namespace sluice::rest
