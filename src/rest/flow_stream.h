// Bodies that are too large for memory: which requests may have one, how flows see it, and answers
// that are streams.
#pragma once

#include <optional>

#include "flow_engine/answer_pipe.h"
#include "flow_engine/app.h"
#include "flow_engine/stream.h"
#include "json/value.h"
#include "rest/http_types.h"

namespace sluice::rest {

// How much of the request's body is kept in memory before it goes to disk; nothing: all of it has
// to be. That depends on the endpoint and the content type: what is parsed is in memory.
std::optional<size_t> SpoolAbove(const flow_engine::App& app, const Request& request,
                                 size_t max_body_bytes);

// Sends it piece by piece, as the client takes it. Status, headers and content type have been set.
Task<> SendStream(flow_engine::StreamPtr stream, Request& request, Response& response);
// The same of an answer that is still on its way.
Task<> SendPiped(flow_engine::AnswerPipe& pipe, Request& request, Response& response);

}  // namespace sluice::rest
