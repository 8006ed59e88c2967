#include "rest/gate.h"

#include <algorithm>

#include "flow/text_form.h"
#include "flow_engine/guards.h"
#include "json/print.h"
#include "rest/flow_dataset.h"
#include "rest/flow_openapi.h"
#include "rest/flow_static.h"
#include "rest/http_types.h"
#include "rest/route_auth.h"

namespace sluice::rest {
namespace {

using json::Value;
using Verdict = http::Filter::Verdict;

constexpr std::string_view kOpenApiPath = "/openapi.json";

// Routes that AccessFilter is asked about instead of that of all endpoints.
const Route kOwnPages{.auth = std::string(kPublic)};
const Route kAnyPage{.auth = std::string(kPublicToPages)};
const Route kUsers{.auth = std::string(kKnownToPages)};

// HEAD is a GET unless rest.yaml says more of it.
flow_engine::RestConfig::Match FindEndpoint(const flow_engine::App& app, Method method,
                                            std::string_view path) {
  flow_engine::RestConfig::Match match = app.rest.Find(MethodName(method), path);
  if (method == Method::kHead && match.endpoint == nullptr) match = app.rest.Find("GET", path);
  return match;
}

// The methods that a path takes.
std::string AllowedMethods(const flow_engine::App& app, std::string_view path) {
  std::string allowed;
  for (const char* const method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}) {
    const bool as_get = std::string_view(method) == "HEAD";
    if (app.rest.Find(method, path).endpoint == nullptr &&
        (!as_get || app.rest.Find("GET", path).endpoint == nullptr)) {
      continue;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(method);
  }
  return allowed;
}

void AnswerNoEndpoint(const flow_engine::App& app, std::string_view path, bool path_known,
                      const Request& request, Response& response) {
  if (!path_known) return AnswerError(request, 404, Value("Resource not found"), response);
  response.AddHeader("Allow", AllowedMethods(app, path));
  AnswerError(request, 405, Value("Method not allowed"), response);
}

void AnswerOptions(const flow_engine::App& app, std::string_view path, const Request& request,
                   const flow_engine::RestConfig::Match& match, Response& response) {
  if (match.options == nullptr) {
    return AnswerNoEndpoint(app, path, match.path_known, request, response);
  }
  for (const auto& [name, value] : match.options->cors->options) response.AddHeader(name, value);
  response.NoContent(204);
}

// The route that guards an endpoint against this request.
const std::string& GuardOf(const Request& request, const flow_engine::Endpoint& endpoint) {
  for (const flow_engine::AuthRule& rule : endpoint.authentication) {
    if (rule.header.empty()) return rule.service;
    if (!request.FindHeader(rule.header)) continue;
    // What the guard and the function get, too.
    if (rule.value.empty() || JoinedHeader(request, rule.header) == rule.value) return rule.service;
  }
  return endpoint.authentication.back().service;  // has no header
}

// Whether cors of the endpoint lets pages of the request's origin use it.
bool AdmitsPages(const flow_engine::Host& host, const Request& request) {
  const auto app = host.app();
  const auto path = PercentDecode(request.path());
  if (!path) return false;
  const flow_engine::RestConfig::Match match = FindEndpoint(*app, request.method(), *path);
  if (match.endpoint == nullptr || match.endpoint->cors == nullptr) return false;
  const auto origin = request.FindHeader("Origin");
  const auto allows = [&](const auto& header) {
    return EqualsIgnoreCase(header.first, "access-control-allow-origin") &&
           (header.second == "*" || (origin && EqualsIgnoreCase(header.second, *origin)));
  };
  const flow_engine::CorsPolicy& cors = *match.endpoint->cors;
  return std::ranges::any_of(cors.headers, allows) || std::ranges::any_of(cors.options, allows);
}

// Whether the function that guards an endpoint lets the request in; then also its headers.
bool LetsIn(const flow_engine::Reply& reply) {
  return reply.status < 400 && reply.body.is_bool() && reply.body.AsBool();
}

// The headers of a guard's answer, which describe the sender, by name in lower case.
Value SessionOf(const flow_engine::Reply& reply) {
  Value session = Value::EmptyObject();
  for (const json::Field& header : reply.headers.fields()) {
    session.Set(flow::LowerCase(header.name()), header.value);
  }
  return session;
}

Value SessionOf(const auth::Principal& who) {
  Value roles = Value::EmptyArray();
  for (const auth::Grant& grant : who.grants) roles.Append(Value(grant.ToString()));
  return Value::Object({{"user", who.user}, {"roles", std::move(roles)}});
}

}  // namespace

std::function<void(Pool::Job)> RunOnLoop(Request& request) {
  return [loop = request.exchange().loop().get()](Pool::Job job) { loop->Run(std::move(job)); };
}

std::string_view Admitted::name() const {
  const Value& user = head["session"]["user"];
  return user.is_string() ? user.AsString() : std::string_view();
}

// When the body has come, the request is looked at again, and has been let in already.
Verdict Gate::Check(const Route& route, Request& request, Response& response) {
  if (route.auth != kEndpoint) return access_.Check(route, request, response);
  const Route& pages = AdmitsPages(host_, request) ? kAnyPage : kOwnPages;
  const Verdict verdict = access_.Check(pages, request, response);
  if (verdict != Verdict::kPass || request.principal() != nullptr) return verdict;
  return Verdict::kLater;
}

Task<Verdict> Gate::CheckLater(const Route& route, Request& request, Response& response) {
  if (route.auth != kEndpoint) co_return co_await access_.CheckLater(route, request, response);
  const std::shared_ptr<const flow_engine::App> app = host_.app();
  const auto path = PercentDecode(request.path());
  if (!path) {
    AnswerError(request, 400, Value("the path has a malformed escape"), response);
    co_return Verdict::kAnswered;
  }
  flow_engine::RestConfig::Match match = FindEndpoint(*app, request.method(), *path);
  if (match.endpoint == nullptr || request.method() == Method::kOptions) {
    co_await AnswerOther(app, match, *path, request, response);
    co_return Verdict::kAnswered;
  }
  const auto wanted = std::make_shared<Admitted>(app, std::move(match));
  const flow_engine::Endpoint& endpoint = *wanted->match.endpoint;
  Verdict verdict = Verdict::kAnswered;
  if (Result<Value> head = HeadOf(request, endpoint, wanted->match.parameters)) {
    wanted->head = std::move(*head);
    const std::string guard(endpoint.authentication.empty() ? flow_engine::kNoGuard
                                                            : GuardOf(request, endpoint));
    verdict = guard == flow_engine::kNoGuard ? Verdict::kPass
                                             : co_await AskGuard(*wanted, guard, request, response);
  } else {
    AnswerError(request, 400, Value(head.error().message()), response);
  }
  if (verdict == Verdict::kPass) {
    request.set_principal(wanted);
  } else {
    AddPolicyHeaders(endpoint, response);
  }
  co_return verdict;
}

// kPass sets the session.
Task<Verdict> Gate::AskGuard(Admitted& wanted, const std::string& guard, Request& request,
                             Response& response) {
  if (guard == flow_engine::kUsersGuard) {
    const Verdict verdict = co_await CheckUsers(request, response);
    if (verdict == Verdict::kPass) wanted.head.Set("session", SessionOf(SenderOf(request)));
    co_return verdict;
  }
  Completion<flow_engine::Reply> done(request.exchange());
  host_.engine().Call(wanted.app, guard, Value::EmptyObject(), wanted.head,
                      wanted.match.endpoint->timeout_ms,
                      [done](flow_engine::Reply reply) { done.Complete(std::move(reply)); },
                      {.run = RunOnLoop(request)});
  const Result<flow_engine::Reply> reply = co_await done;
  if (!reply) co_return Verdict::kAnswered;  // the client has gone
  if (LetsIn(*reply)) {
    wanted.head.Set("session", SessionOf(*reply));
    co_return Verdict::kPass;
  }
  const bool failed = reply->status >= 400;
  AnswerError(request, failed ? reply->status : 401, failed ? reply->body : Value("Unauthorized"),
              response);
  co_return Verdict::kAnswered;
}

// Whether a user of this server asks, who is then the request's principal.
Task<Verdict> Gate::CheckUsers(Request& request, Response& response) {
  const Verdict verdict = access_.Check(kUsers, request, response);
  if (verdict != Verdict::kLater) co_return verdict;
  co_return co_await access_.CheckLater(kUsers, request, response);
}

// Answers a request that no endpoint takes: OPTIONS, openapi.json, static files, 404, 405.
Task<> Gate::AnswerOther(std::shared_ptr<const flow_engine::App> app,
                         const flow_engine::RestConfig::Match& match, const std::string& path,
                         Request& request, Response& response) {
  const Method method = request.method();
  if (method == Method::kOptions) co_return AnswerOptions(*app, path, request, match, response);
  const bool reads = method == Method::kGet || method == Method::kHead;
  if (!reads || match.path_known) {
    co_return AnswerNoEndpoint(*app, path, match.path_known, request, response);
  }
  if (path == kOpenApiPath) co_return response.Json(200, json::ToText(FlowOpenApi(*app)));
  const flow_engine::StaticContent& content = app->rest.content;
  if (content.filter_service == flow_engine::kUsersGuard && content.IsFiltered(path) &&
      co_await CheckUsers(request, response) != Verdict::kPass) {
    co_return;
  }
  co_await AnswerStatic(host_, app, path, request, response);
}

bool Gate::Holds(const Request& request) const {
  const auto* const sender = dynamic_cast<const Sender*>(request.principal().get());
  return sender == nullptr || authenticator_.Holds(sender->who());
}

}  // namespace sluice::rest
