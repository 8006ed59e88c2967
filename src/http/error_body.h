// How a Status becomes an HTTP answer: one table of status codes, one JSON shape.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::http {

int HttpStatusOf(Code code);
// The same for errors of a document, not of the request: 422.
int HttpStatusOf(const Status& error);
bool IsOfDocument(const Status& error);

// "Not Found"; "<unknown>" for a number that HTTP does not know.
std::string_view ReasonPhrase(int http_status);

// A message may quote what a client sent, which need not be UTF-8: a byte that is not becomes
// U+FFFD.
std::string RepairedText(std::string_view text);

// {"id":...,"message":...,"file":...,"line":...,"column":...,<fields>}
void AppendError(const Status& status, std::string* out);
// {"error":{"id":...,"message":...,"request_id":...,"file":...,"line":...,"column":...,<fields>}}
std::string ErrorBody(const Status& status, std::string_view request_id);

// The JSON schema of that shape, for OpenAPI.
json::Value ErrorSchema();

}  // namespace sluice::http
