// The names of http and net that resources use all the time, without their prefix.
#pragma once

#include "http/error_body.h"
#include "http/handler.h"
#include "http/request.h"
#include "http/response.h"
#include "http/router.h"
#include "http/sse.h"
#include "http/url.h"
#include "http/websocket.h"
#include "net/completion.h"
#include "net/run_blocking.h"
#include "net/task.h"

namespace sluice::rest {

using http::AppendError;
using http::Blocking;
using http::Content;
using http::ErrorBody;
using http::ErrorSchema;
using http::EventStream;
using http::Header;
using http::HttpStatusOf;
using http::IsOfDocument;
using http::Method;
using http::MethodName;
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
using http::WebSocket;
using net::Completion;
using net::OverloadedError;
using net::RunBlocking;
using net::Task;

}  // namespace sluice::rest
