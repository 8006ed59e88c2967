#include "rest/access.h"

#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/check.h"
#include "rest/http_types.h"
#include "rest/route_auth.h"
#include "service/authorization.h"

namespace sluice::rest {
namespace {

using auth::Permission;
using Verdict = http::Filter::Verdict;

constexpr std::string_view kChallenge = R"(Basic realm="sluice", charset="UTF-8")";

std::string_view WithoutPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || address.ends_with(']')) return address;
  return address.substr(0, colon);
}

// Addresses are taken in their usual form only: resolvers differ in what else they take for one.
bool IsLoopback(std::string_view host) {
  if (EqualsIgnoreCase(host, "localhost")) return true;
  in_addr v4;
  if (inet_pton(AF_INET, std::string(host).c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (!host.starts_with('[') || !host.ends_with(']')) return false;
  in6_addr v6;
  if (inet_pton(AF_INET6, std::string(host.substr(1, host.size() - 2)).c_str(), &v6) != 1) {
    return false;
  }
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

// Whether a page of another origin has made the request, as far as the browser says so.
bool IsOfAnotherPage(const Request& request) {
  const auto site = request.FindHeader("Sec-Fetch-Site");
  if (site && *site != "same-origin" && *site != "none") return true;
  const auto origin = request.FindHeader("Origin");
  if (!origin) return false;
  const std::string host(request.FindHeader("Host").value_or(""));
  return !EqualsIgnoreCase(*origin, "http://" + host) &&
         !EqualsIgnoreCase(*origin, "https://" + host);
}

// Whether the browser opens the answer as a page of its own (the user follows a link). The page
// with the link can't read it.
bool IsVisit(const Request& request) {
  return (request.method() == Method::kGet || request.method() == Method::kHead) &&
         !request.FindHeader("Origin") && request.FindHeader("Sec-Fetch-Mode") == "navigate" &&
         request.FindHeader("Sec-Fetch-Dest") == "document";
}

bool HasToken(const Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view header = request.FindHeader("Authorization").value_or("");
  return EqualsIgnoreCase(header.substr(0, kScheme.size()), kScheme);
}

// Browsers send what they keep for a server (a password, cookies, their place in the network) with
// requests that pages of anybody make. So those of pages of other origins are refused, as far as
// browsers tell. What passes: a Bearer token, which browsers do not keep; OPTIONS, which only asks;
// a visit of what everybody may see, which the page with the link can't read.
Status CheckPage(const Route& route, const Request& request) {
  if (route.auth == kPublicToPages || route.auth == kKnownToPages) return OkStatus();
  if (!IsOfAnotherPage(request) || request.method() == Method::kOptions || HasToken(request)) {
    return OkStatus();
  }
  if (route.auth == kPublic && IsVisit(request)) return OkStatus();
  return Error(Code::kForbidden, "auth.foreign_origin",
               "a page of another origin sent this (host '{}', Origin '{}', Sec-Fetch-Site '{}'), "
               "which needs a Bearer token or, of an endpoint, cors that allows it",
               request.FindHeader("Host").value_or(""), request.FindHeader("Origin").value_or(""),
               request.FindHeader("Sec-Fetch-Site").value_or(""));
}

struct Wanted {
  Permission permission = Permission::kNone;
  std::string_view bucket = auth::kEveryBucket;
};

Wanted WantedBy(const Route& route, const Request& request) {
  const std::string_view auth = route.auth;
  if (auth == kKnown) return {Permission::kNone, auth::kEveryBucket};
  if (auth == kKnownToPages) return {Permission::kNone, auth::kEveryBucket};
  if (auth == kMonitor) return {Permission::kMonitor, auth::kEveryBucket};
  if (auth == kReadBucket) return {Permission::kRead, request.Param("bucket")};
  if (auth == kReadKeyspace || auth == kWriteKeyspace) {
    const std::string_view keyspace = request.Param("keyspace");
    return {auth == kReadKeyspace ? Permission::kRead : Permission::kWrite,
            keyspace.substr(0, keyspace.find('.'))};
  }
  return {Permission::kAdmin, auth::kEveryBucket};
}

Verdict RefuseSender(Response& response, const Status& why) {
  if (why.id() == "auth.blocked") {
    response.Error(429, why);
  } else {
    response.Error(why);
  }
  if (why.code() == Code::kUnauthenticated) response.AddHeader("WWW-Authenticate", kChallenge);
  return Verdict::kAnswered;
}

std::shared_ptr<const Sender> TrustedSender() {
  auto who = std::make_shared<auth::Principal>();
  who->user = "local";
  who->grants = {auth::Grant{auth::Role::kAdmin}};
  return std::make_shared<const Sender>(std::move(who));
}

}  // namespace

const auth::Principal& SenderOf(const Request& request) {
  CHECK(request.principal() != nullptr);
  return static_cast<const Sender&>(*request.principal()).who();
}

std::shared_ptr<const auth::Principal> SharedSenderOf(const Request& request) {
  CHECK(request.principal() != nullptr);
  return static_cast<const Sender&>(*request.principal()).shared();
}

Status Require(const Request& request, Permission permission, std::string_view bucket) {
  return service::Require(SenderOf(request), permission, bucket);
}

AccessFilter::AccessFilter(auth::Authenticator& authenticator, Mode mode)
    : authenticator_(authenticator), mode_(mode), trusted_(TrustedSender()) {}

Verdict AccessFilter::Check(const Route& route, Request& request, Response& response) {
  const Status page = CheckPage(route, request);
  if (!page.ok()) return RefuseSender(response, page);
  const bool is_public = route.auth == kPublic || route.auth == kPublicToPages;
  const auto header = request.FindHeader("Authorization");
  if (mode_ == Mode::kTrustLoopback && (is_public || !header) &&
      IsLoopback(WithoutPort(request.remote()))) {
    const std::shared_ptr<const Principal> before = request.principal();
    const Verdict verdict = CheckTrusted(request, response);
    if (is_public) request.set_principal(before);
    return verdict;
  }
  if (is_public) return Verdict::kPass;
  const auto now = authenticator_.TryNow(header.value_or(""));
  if (!now) return Verdict::kLater;
  return Decide(route, request, response, *now);
}

// Any other name may belong to a page's owner, who lets it lead here (DNS rebinding).
Verdict AccessFilter::CheckTrusted(Request& request, Response& response) const {
  const auto host = request.FindHeader("Host");
  if (host && !IsLoopback(WithoutPort(*host))) {
    return RefuseSender(response,
                        Error(Code::kForbidden, "auth.foreign_origin",
                              "without credentials only pages and programs of this machine are "
                              "served: use localhost instead of '{}'",
                              *host));
  }
  request.set_principal(trusted_);
  return Verdict::kPass;
}

Task<Verdict> AccessFilter::CheckLater(const Route& route, Request& request, Response& response) {
  Completion<auth::Authenticator::Recognised> done(request.exchange());
  authenticator_.Authenticate(
      request.FindHeader("Authorization").value_or(""), WithoutPort(request.remote()),
      [done](auth::Authenticator::Recognised found) { done.Complete(std::move(found)); });
  Result<auth::Authenticator::Recognised> found = co_await done;
  if (!found) co_return RefuseSender(response, found.error());
  co_return Decide(route, request, response, *found);
}

Verdict AccessFilter::Decide(const Route& route, Request& request, Response& response,
                             const auth::Authenticator::Recognised& found) const {
  if (!found) return RefuseSender(response, found.error());
  const Wanted wanted = WantedBy(route, request);
  const Status allowed = service::Require(**found, wanted.permission, wanted.bucket);
  if (!allowed.ok()) return RefuseSender(response, allowed);
  request.set_principal(std::make_shared<const Sender>(*found));
  return Verdict::kPass;
}

}  // namespace sluice::rest
