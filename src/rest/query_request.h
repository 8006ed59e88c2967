// A request to /query/service: its parameters are a form, a JSON object, or a URL's query.
#pragma once

#include "base/status.h"
#include "rest/http_types.h"
#include "service/query_parameters.h"

namespace sluice::rest {

// Errors as service/query_parameters.h has them. What could be read before that is in `parameters`.
// A request that is not a POST only reads.
Status ReadQueryParameters(const Request& request, service::QueryParameters* parameters);

}  // namespace sluice::rest
