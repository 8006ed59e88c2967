// Errors as Couchbase Eventing answers them: {"name": "ERR_...", "code": n, "description": ...},
// with our own id beside them.
#pragma once

#include "base/status.h"
#include "http/response.h"

namespace sluice::http::rest {

void AnswerEventingError(Response& response, const Status& error);
// {"code": 0, "info": ...}
void AnswerEventingSuccess(Response& response, std::string_view info);

}  // namespace sluice::http::rest
