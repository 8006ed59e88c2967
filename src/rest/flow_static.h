// Static content of an app over HTTP, for paths that no endpoint has.
#pragma once

#include <memory>
#include <string>

#include "flow_engine/host.h"
#include "rest/http_types.h"

namespace sluice::rest {

// Answers a GET or HEAD of somebody whom the filter sluice.users would let in; 404 when there is no
// such file. A file on disk is sent as it is read.
Task<> AnswerStatic(flow_engine::Host& host, std::shared_ptr<const flow_engine::App> app,
                    std::string path, Request& request, Response& response);

}  // namespace sluice::rest
