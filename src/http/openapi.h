// Makes the OpenAPI 3.0 document of a router's routes.
#pragma once

#include <string>

#include "base/status.h"
#include "http/router.h"
#include "json/value.h"

namespace sluice::http {

struct ApiInfo {
  std::string title;
  std::string version;
  std::string description = {};
};

// The document for all routes that are not hidden.
json::Value OpenApi(const Router& router, const ApiInfo& info);

// Adds GET /openapi.json, which answers with the document of the routes there are now: call it
// last.
Status AddOpenApi(const ApiInfo& info, Router* router);

}  // namespace sluice::http
