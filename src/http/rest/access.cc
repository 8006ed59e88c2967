#include "http/rest/access.h"

#include <utility>

#include "base/check.h"
#include "http/completion.h"

namespace sluice::http::rest {
namespace {

using auth::Permission;
using Verdict = Filter::Verdict;

constexpr std::string_view kChallenge = R"(Basic realm="sluice", charset="UTF-8")";

std::string_view WithoutPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || address.ends_with(']')) return address;
  return address.substr(0, colon);
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host == "::1" || host.starts_with("127.");
}

struct Wanted {
  Permission permission = Permission::kNone;
  std::string_view bucket = auth::kEveryBucket;
};

Wanted WantedBy(const Route& route, const Request& request) {
  const std::string_view auth = route.auth;
  if (auth == kKnown) return {Permission::kNone, auth::kEveryBucket};
  if (auth == kReadBucket) return {Permission::kRead, request.Param("bucket")};
  if (auth == kReadKeyspace || auth == kWriteKeyspace) {
    const std::string_view keyspace = request.Param("keyspace");
    return {auth == kReadKeyspace ? Permission::kRead : Permission::kWrite,
            keyspace.substr(0, keyspace.find('.'))};
  }
  return {Permission::kAdmin, auth::kEveryBucket};
}

Status Forbidden(const auth::Principal& who, Permission permission, std::string_view bucket) {
  if (permission == Permission::kAdmin) {
    return Error(Code::kForbidden, "auth.forbidden", "user '{}' is not an admin", who.user);
  }
  return Error(Code::kForbidden, "auth.forbidden", "user '{}' lacks the permission {} on bucket {}",
               who.user, auth::PermissionName(permission), bucket);
}

Verdict Refuse(Response& response, const Status& why) {
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

Status Require(const Request& request, Permission permission, std::string_view bucket) {
  const auth::Principal& who = SenderOf(request);
  if (who.Allows(permission, bucket)) return OkStatus();
  return Forbidden(who, permission, bucket);
}

AccessFilter::AccessFilter(auth::Authenticator& authenticator, Mode mode)
    : authenticator_(authenticator), mode_(mode), trusted_(TrustedSender()) {}

Verdict AccessFilter::Check(const Route& route, Request& request, Response& response) {
  if (route.auth == kPublic) return Verdict::kPass;
  const auto header = request.FindHeader("Authorization");
  if (!header && mode_ == Mode::kTrustLoopback && IsLoopback(WithoutPort(request.remote()))) {
    return CheckTrusted(request, response);
  }
  const auto now = authenticator_.TryNow(header.value_or(""));
  if (!now) return Verdict::kLater;
  return Decide(route, request, response, *now);
}

Verdict AccessFilter::CheckTrusted(Request& request, Response& response) const {
  const auto host = request.FindHeader("Host");
  const auto origin = request.FindHeader("Origin");
  const bool foreign_host = host && !IsLoopback(WithoutPort(*host));
  const bool foreign_origin = origin && (!host || (*origin != "http://" + std::string(*host) &&
                                                   *origin != "https://" + std::string(*host)));
  if (foreign_host || foreign_origin) {
    return Refuse(response,
                  Error(Code::kForbidden, "auth.foreign_origin",
                        "without credentials only pages and programs of this machine are served: "
                        "host '{}', origin '{}'",
                        host.value_or(""), origin.value_or("")));
  }
  request.set_principal(trusted_);
  return Verdict::kPass;
}

Task<Verdict> AccessFilter::CheckLater(const Route& route, Request& request, Response& response) {
  Completion<auth::Authenticator::Recognised> done(request);
  authenticator_.Authenticate(
      request.FindHeader("Authorization").value_or(""), WithoutPort(request.remote()),
      [done](auth::Authenticator::Recognised found) { done.Complete(std::move(found)); });
  Result<auth::Authenticator::Recognised> found = co_await done;
  if (!found) co_return Refuse(response, found.error());
  co_return Decide(route, request, response, *found);
}

Verdict AccessFilter::Decide(const Route& route, Request& request, Response& response,
                             const auth::Authenticator::Recognised& found) const {
  if (!found) return Refuse(response, found.error());
  const Wanted wanted = WantedBy(route, request);
  if (!(*found)->Allows(wanted.permission, wanted.bucket)) {
    return Refuse(response, Forbidden(**found, wanted.permission, wanted.bucket));
  }
  request.set_principal(std::make_shared<const Sender>(*found));
  return Verdict::kPass;
}

}  // namespace sluice::http::rest
