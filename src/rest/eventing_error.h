// Errors as Couchbase Eventing answers them: {"name": "ERR_...", "code": n, "description": ...},
// with our own id beside them. What is wrong with code is described by an object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "rest/http_types.h"

namespace sluice::rest {

json::Value EventingErrorView(const Status& error);
// With the HTTP status that belongs to the error's name, or another one.
void AnswerEventingError(Response& response, const Status& error);
void AnswerEventingError(Response& response, int http_status, const Status& error);
// {"code": 0, "info": ...} and, when there are warnings, "warning_info": {"status", "warnings"}.
json::Value EventingSuccessView(std::string_view info,
                                const std::vector<std::string>& warnings = {});
void AnswerEventingSuccess(Response& response, std::string_view info,
                           const std::vector<std::string>& warnings = {});

// The answer of /getErrorCodes.
json::Value EventingErrorCodes();

}  // namespace sluice::rest
