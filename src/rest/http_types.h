// The names of http that resources use all the time, without their prefix.
#pragma once

#include "http/completion.h"
#include "http/error_body.h"
#include "http/handler.h"
#include "http/request.h"
#include "http/response.h"
#include "http/router.h"
#include "http/sse.h"
#include "http/task.h"
#include "http/url.h"
#include "http/websocket.h"
#include "http/worker_pool.h"

namespace sluice::rest {

using http::AppendError;
using http::Blocking;
using http::Completion;
using http::Content;
using http::EqualsIgnoreCase;
using http::ErrorBody;
using http::ErrorSchema;
using http::EventStream;
using http::Header;
using http::HttpStatusOf;
using http::IsOfDocument;
using http::Method;
using http::MethodName;
using http::OverloadedError;
using http::Parameter;
using http::PercentDecode;
using http::Principal;
using http::ReasonPhrase;
using http::RepairedText;
using http::Request;
using http::Response;
using http::ResponseInfo;
using http::Route;
using http::Router;
using http::RunBlocking;
using http::Task;
using http::WebSocket;

}  // namespace sluice::rest
