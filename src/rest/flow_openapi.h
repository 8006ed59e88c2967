// OpenAPI of an app's endpoints: what rest.yaml says of them.
#pragma once

#include "flow_engine/app.h"
#include "json/value.h"

namespace sluice::rest {

json::Value FlowOpenApi(const flow_engine::App& app);

}  // namespace sluice::rest
