// Errors as Couchbase Eventing answers them: {"name": "ERR_...", "code": n, "description": ...},
// with our own id beside them. What is wrong with code is described by an object.
#pragma once

#include "base/status.h"
#include "http/response.h"
#include "json/value.h"

namespace sluice::http::rest {

json::Value EventingErrorView(const Status& error);
// With the HTTP status that belongs to the error's name, or another one.
void AnswerEventingError(Response& response, const Status& error);
void AnswerEventingError(Response& response, int http_status, const Status& error);
// {"code": 0, "info": ...}
void AnswerEventingSuccess(Response& response, std::string_view info);

// The answer of /getErrorCodes.
json::Value EventingErrorCodes();

}  // namespace sluice::http::rest
