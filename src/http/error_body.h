// How a Status becomes an HTTP answer: one table of status codes, one JSON shape.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::http {

int HttpStatusOf(Code code);

// "Not Found"; "<unknown>" for a number that HTTP does not know.
std::string_view ReasonPhrase(int http_status);

// {"error":{"id":...,"message":...,"request_id":...,"file":...,"line":...,"column":...,<fields>}}
std::string ErrorBody(const Status& status, std::string_view request_id);

// The JSON schema of that shape, for OpenAPI.
json::Value ErrorSchema();

}  // namespace sluice::http
