// OpenAPI of an app's endpoints: what rest.yaml says of them.
#pragma once

#include "json/value.h"
#include "route/app.h"

namespace sluice::http::rest {

json::Value FlowOpenApi(const route::App& app);

}  // namespace sluice::http::rest
