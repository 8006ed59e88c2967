#include "rest/flow_endpoints.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "flow/text_form.h"
#include "json/print.h"
#include "rest/flow_dataset.h"
#include "rest/flow_stream.h"
#include "rest/gate.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

using json::Value;

constexpr Method kMethods[] = {Method::kGet,   Method::kPost,   Method::kPut,
                               Method::kPatch, Method::kDelete, Method::kOptions};

// A body larger than this is parsed by a worker: on the connection's thread others would wait.
constexpr size_t kMostParsedHere = 64 << 10;

// How long the client waits: the endpoint's timeout, or the milliseconds of the header X-TTL if
// these are less.
uint64_t TimeoutOf(const Request& request, const flow_engine::Endpoint& endpoint) {
  const auto header = request.FindHeader("x-ttl");
  if (!header) return endpoint.timeout_ms;
  uint64_t ttl_ms = 0;
  const auto read = std::from_chars(header->data(), header->data() + header->size(), ttl_ms);
  const bool valid = read.ec == std::errc() && read.ptr == header->data() + header->size();
  return valid && ttl_ms > 0 ? std::min(ttl_ms, endpoint.timeout_ms) : endpoint.timeout_ms;
}

std::string CorrelationOf(const Request& request, const flow_engine::Endpoint& endpoint) {
  const auto given = request.FindHeader(endpoint.correlation_header);
  return given && IsValidUtf8(*given) ? std::string(*given) : std::string(request.id());
}

// The start of the flow that the endpoint names. A client that waits for less time shortens a flow
// in memory; a durable flow keeps its own time.
flow::Start StartOf(const Request& request, const flow_engine::Endpoint& endpoint,
                    const flow::Flow& flow, const flow_engine::TraceLink& trace,
                    uint64_t timeout_ms, Value dataset) {
  flow::Start start;
  start.flow = endpoint.flow;
  start.input = std::move(dataset);
  start.cid = CorrelationOf(request, endpoint);
  if (!flow.durable && timeout_ms < flow.ttl_ms) start.ttl_ms = timeout_ms;
  if (trace.tracing == flow_engine::Tracing::kTold) start.trace = trace.id;
  return start;
}

// The trace that a request belongs to: that of traceparent, else of X-Trace-Id, or whatever these
// headers are called, else a new one.
flow_engine::TraceLink TraceOf(const Request& request, const flow_engine::Endpoint& endpoint) {
  if (endpoint.tracing == flow_engine::Tracing::kOff)
    return {.tracing = flow_engine::Tracing::kOff};
  flow_engine::TraceLink link;
  if (auto parent =
          flow_engine::ParseTraceParent(request.FindHeader(endpoint.parent_header).value_or(""))) {
    link = std::move(*parent);
    const std::string_view state = request.FindHeader("tracestate").value_or("");
    if (state.size() <= flow_engine::kMaxTraceState && IsValidUtf8(state)) link.state = state;
  } else if (const auto id = request.FindHeader(endpoint.trace_header);
             id && flow_engine::IsTraceId(*id)) {
    link.id = *id;
  } else if (endpoint.tracing == flow_engine::Tracing::kTold) {
    link.id = flow_engine::NewTraceId();
  }
  link.tracing = endpoint.tracing;
  return link;
}

void SetStreamHead(const flow_engine::Endpoint& endpoint, const flow_engine::Reply& reply,
                   Response& response) {
  const std::string content_type = SetAnswerHead(endpoint, reply, response);
  response.set_status(reply.status);
  response.set_content_type(content_type.empty() ? "application/octet-stream" : content_type);
}

// A value, or the stream that the header x-stream-id names.
Task<> AnswerReply(Request& request, const flow_engine::Endpoint& endpoint,
                   flow_engine::Reply reply, Response& response) {
  // Those below 200 are no answer: a client would wait for one.
  if (reply.status < 200 || reply.status > 599) {
    reply = {.status = 500,
             .body = Value(fmt::format("{} is not a status of an answer", reply.status))};
  }
  const Value id = reply.headers[flow_engine::kStreamHeader];
  if (!id.is_string()) co_return Answer(request, endpoint, std::move(reply), response);
  const Result<flow_engine::StreamPtr> stream =
      reply.streams == nullptr ? Unexpected(flow_engine::NoStream(id.AsString()))
                               : reply.streams->Find(id.AsString());
  if (!stream) co_return AnswerError(request, 500, Value(stream.error().message()), response);
  SetStreamHead(endpoint, reply, response);
  co_await SendStream(*stream, request, response);
}

// A relay's answer: the whole of it, or only the head if the rest comes through the pipe.
struct RelayAnswer {
  flow_engine::Reply reply;
  bool piped = false;
};

// A large answer is sent as it arrives. When the client has gone, nobody asks the target for more.
Task<> CallRelay(flow_engine::Host& host, std::shared_ptr<const flow_engine::App> app,
                 const flow_engine::Endpoint& endpoint, Value dataset,
                 flow_engine::RunContext context, Request& request, Response& response) {
  Completion<RelayAnswer> done(request.exchange());
  struct Taker {
    ~Taker() { pipe->Leave(); }
    const std::shared_ptr<flow_engine::AnswerPipe> pipe;
  };
  const Taker taker{std::make_shared<flow_engine::AnswerPipe>([done](flow_engine::TaskOutput head) {
    done.Complete(
        {.reply = {.status = head.status, .headers = std::move(head.headers)}, .piped = true});
  })};
  const auto reply_to = [done](flow_engine::Reply reply) {
    reply.streams = nullptr;  // they have the pipe, which has `done`
    done.Complete({.reply = std::move(reply)});
  };
  if (context.streams == nullptr) context.streams = std::make_shared<flow_engine::StreamScope>();
  context.streams->set_pipe(taker.pipe);
  host.engine().Call(app, flow_engine::RelayRoute(endpoint), Value::EmptyObject(),
                     std::move(dataset), TimeoutOf(request, endpoint), reply_to,
                     std::move(context));
  Result<RelayAnswer> answer = co_await done;
  if (!answer) co_return;
  if (!answer->piped) co_return Answer(request, endpoint, std::move(answer->reply), response);
  SetStreamHead(endpoint, answer->reply, response);
  co_await SendPiped(*taker.pipe, request, response);
}

// The input of what answers, with the body.
Task<Result<Value>> InputOf(const Admitted& wanted, Request& request,
                            flow_engine::StreamScope* streams) {
  const flow_engine::Endpoint& endpoint = *wanted.match.endpoint;
  if (request.spooled() == nullptr && request.body_size() <= kMostParsedHere) {
    co_return WithBody(request, endpoint, wanted.head, streams);
  }
  auto made = co_await RunBlocking(
      request.exchange(), [&] { return WithBody(request, endpoint, wanted.head, streams); });
  co_return made ? std::move(*made) : Result<Value>(Unexpected(made.error()));
}

Task<> CallEndpoint(flow_engine::Host& host, const Admitted& wanted, Request& request,
                    Response& response) {
  const std::shared_ptr<const flow_engine::App>& app = wanted.app;
  const flow_engine::Endpoint& endpoint = *wanted.match.endpoint;
  std::shared_ptr<flow_engine::StreamScope> streams;
  if (request.spooled() != nullptr) streams = std::make_shared<flow_engine::StreamScope>();
  Result<Value> dataset = co_await InputOf(wanted, request, streams.get());
  if (!dataset) {
    co_return AnswerError(request, HttpStatusOf(dataset.error()), Value(dataset.error().message()),
                          response);
  }
  flow_engine::TraceLink trace = TraceOf(request, endpoint);
  if (trace.tracing == flow_engine::Tracing::kTold)
    response.AddHeader(endpoint.trace_header, trace.id);
  if (!endpoint.relay.empty()) {
    // A relay waits for another server, so it runs on the relays' pool, not on the loop's thread.
    flow_engine::RunContext context{std::move(trace), std::move(streams), nullptr, &host.relays()};
    co_return co_await CallRelay(host, app, endpoint, std::move(*dataset), std::move(context),
                                 request, response);
  }
  Completion<flow_engine::Reply> done(request.exchange());
  const auto reply_to = [done](flow_engine::Reply reply) { done.Complete(std::move(reply)); };
  for (size_t i = 1; i < endpoint.services.size(); ++i) {
    host.engine().Call(app, endpoint.services[i], Value::EmptyObject(), *dataset,
                       endpoint.timeout_ms, [](const flow_engine::Reply&) {}, {trace, streams});
  }
  const uint64_t timeout_ms = TimeoutOf(request, endpoint);
  flow_engine::Engine::Handle handle;
  if (endpoint.flow.empty()) {
    host.engine().Call(app, endpoint.services[0], Value::EmptyObject(), std::move(*dataset),
                       timeout_ms, reply_to,
                       {.trace = std::move(trace),
                        .streams = std::move(streams),
                        .run = RunOnLoop(request),
                        .cid = CorrelationOf(request, endpoint)});
  } else {
    const flow::Flow& flow = *app->flows->Find(endpoint.flow);
    flow::Start start = StartOf(request, endpoint, flow, trace, timeout_ms, std::move(*dataset));
    handle = host.engine().Start(app, std::move(start), reply_to, "rest", timeout_ms,
                                 {std::move(trace), std::move(streams), RunOnLoop(request)});
  }
  Result<flow_engine::Reply> reply = co_await done;
  if (!reply && endpoint.cancels_on_disconnect) host.engine().Abandon(handle);
  if (reply) co_await AnswerReply(request, endpoint, std::move(*reply), response);
}

Task<> HandleRequest(flow_engine::Host& host, Request& request, Response& response) {
  // Keeps what was asked for until the answer is there.
  const auto wanted = std::static_pointer_cast<const Admitted>(request.principal());
  AddPolicyHeaders(*wanted->match.endpoint, response);
  co_await CallEndpoint(host, *wanted, request, response);
}

// Errors before an endpoint is found, such as a body that is too large.
void AnswerFlowError(Response& response, int http_status, const Status& error) {
  response.Json(http_status,
                json::ToText(Value::Object(
                    {{"type", "error"}, {"status", http_status}, {"message", error.message()}})));
}

}  // namespace

Status AddFlowEndpoints(Router& router, flow_engine::Host& host, size_t max_body_bytes) {
  router.SetErrorAnswer("", AnswerFlowError);
  for (const Method method : kMethods) {
    for (const char* const path : {"/", "/{path...}"}) {
      RETURN_IF_ERROR(router.Add({.method = method,
                                  .path = path,
                                  .auth = std::string(kEndpoint),
                                  .handler =
                                      [&host](Request& request, Response& response) {
                                        return HandleRequest(host, request, response);
                                      },
                                  .spool_above =
                                      [&host, max_body_bytes](const Request& request) {
                                        return SpoolAbove(*host.app(), request, max_body_bytes);
                                      },
                                  .hidden = true}));
    }
  }
  return OkStatus();
}

}  // namespace sluice::rest
