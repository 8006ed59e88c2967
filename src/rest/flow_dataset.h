// HTTP requests as flows see them, and answers of flows as HTTP.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flow_engine/engine.h"
#include "flow_engine/rest_config.h"
#include "json/value.h"
#include "rest/http_types.h"

namespace sluice::rest {

// What a request's head says: method, uri, header, cookie, path_parameter, query, ip. For a relay
// the path is rewritten, and query_string is `?` and what follows it, as it was sent. Errors:
// flow.bad_body, flow.bad_path.
Result<json::Value> HeadOf(const Request& request, const flow_engine::Endpoint& endpoint,
                           const std::vector<std::pair<std::string, std::string>>& parameters);
// With the body, and the fields of a form in `query`; of an upload also filename, size and parts.
// A relay's body stays bytes. Error: flow.bad_body. A body on disk becomes streams of `streams`;
// then this waits for the disk.
Result<json::Value> WithBody(const Request& request, const flow_engine::Endpoint& endpoint,
                             json::Value head, flow_engine::StreamScope* streams);

// Whether a request's body is parsed, and so has to be in memory, or only bytes.
enum class BodyForm : uint8_t { kParsed, kBytes };
BodyForm FormOfBody(const Request& request);

void Answer(const Request& request, const flow_engine::Endpoint& endpoint, flow_engine::Reply reply,
            Response& response);
// What rest.yaml adds to all answers of an endpoint: cors, and `add` of headers. Comes first.
void AddPolicyHeaders(const flow_engine::Endpoint& endpoint, Response& response);
// The headers of an answer, except those that rest.yaml gives it; its content type, if it has one.
std::string SetAnswerHead(const flow_engine::Endpoint& endpoint, const flow_engine::Reply& reply,
                          Response& response);
// All values of a header that came several times, as one.
std::string JoinedHeader(const Request& request, std::string_view lower_name,
                         std::string_view separator = ", ");
// {"type": "error", "status": ..., "message": ...}, as JSON, HTML or XML.
void AnswerError(const Request& request, int status, const json::Value& message,
                 Response& response);

}  // namespace sluice::rest
