// /v1/tokens: secrets that stand for a user, with that user's roles or fewer.
#include <utility>

#include "rest/access.h"
#include "rest/accounts_view.h"
#include "rest/body.h"
#include "rest/expiry.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

json::Value TokenView(const auth::Token& token) {
  json::Value view = json::Value::Object({{"id", token.id()},
                                          {"name", token.name},
                                          {"user", token.user},
                                          {"created_ms", json::Value::Unsigned(token.created_ms)}});
  if (token.expires_ms != 0) view.Set("expires_ms", json::Value::Unsigned(token.expires_ms));
  if (token.grants) view.Set("roles", RolesView(*token.grants));
  return view;
}

bool IsAdmin(const Request& request) {
  return Require(request, auth::Permission::kAdmin, auth::kEveryBucket).ok();
}

// One's own; an admin sees and removes all.
bool MaySee(const Request& request, const auth::Token& token) {
  return token.user == SenderOf(request).user || IsAdmin(request);
}

// A token made with a token has at most that token's roles.
Result<auth::TokenRequest> TokenRequestOf(const Context& context, const Request& request) {
  const auth::Principal& who = SenderOf(request);
  ASSIGN_OR_RETURN(const json::Value body,
                   ReadObject(request.body(), {"name", "user", "expiry", "roles"}));
  auth::TokenRequest wanted;
  ASSIGN_OR_RETURN(wanted.name, RequiredString(body, "name"));
  ASSIGN_OR_RETURN(const auto user, StringField(body, "user"));
  wanted.user = user.value_or(who.user);
  ASSIGN_OR_RETURN(const auto expiry, ExpiryField(body, context.clock.WallMs()));
  wanted.expires_ms = expiry.value_or(0);
  ASSIGN_OR_RETURN(wanted.grants, RolesField(body));
  if (wanted.user != who.user) {
    RETURN_IF_ERROR(Require(request, auth::Permission::kAdmin, auth::kEveryBucket));
  } else if (!who.token_id.empty()) {
    if (!wanted.grants) wanted.grants = who.grants;
    for (const auth::Grant& grant : *wanted.grants) {
      if (auth::Covers(who.grants, grant)) continue;
      return Fail(Code::kForbidden, "auth.forbidden",
                  "a token can't have the role {}, because the token that asks for it does not",
                  grant.ToString());
    }
  }
  return wanted;
}

void CreateToken(Context& context, const Request& request, Response& response) {
  const Result<auth::TokenRequest> wanted = TokenRequestOf(context, request);
  if (!wanted) return response.Error(wanted.error());
  const Result<auth::NewToken> created = context.directory.CreateToken(*wanted);
  if (!created) return response.Error(created.error());
  json::Value view = TokenView(created->token);
  view.Set("token", created->secret);
  response.AddHeader("Cache-Control", "no-store");
  response.Json(201, AnswerText(view));
}

void ListTokens(const Context& context, const Request& request, Response& response) {
  json::Value list = json::Value::EmptyArray();
  const auth::Accounts accounts = context.directory.accounts();
  for (const auto& [digest, token] : accounts.tokens) {
    if (MaySee(request, *token)) list.Append(TokenView(*token));
  }
  response.Json(200, AnswerText(json::Value::Object({{"tokens", std::move(list)}})));
}

void RemoveToken(Context& context, const Request& request, Response& response) {
  const std::string_view id = request.Param("id");
  const auth::Accounts accounts = context.directory.accounts();
  for (const auto& [digest, token] : accounts.tokens) {
    if (token->id() != id || !MaySee(request, *token)) continue;
    const Status removed = context.directory.RemoveToken(digest);
    if (!removed.ok()) return response.Error(removed);
    return response.NoContent();
  }
  response.Error(
      Error(Code::kNotFound, "auth.token_not_found", "there is no token with the id '{}'", id));
}

}  // namespace

Status AddTokenRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPost,
       .path = "/v1/tokens",
       .summary = "Create a token",
       .tag = "users",
       .description =
           "For yourself; an admin also for another user. The server shows the token once.",
       .request = Content{.description = "a name; how long it lasts; fewer roles than the user's",
                          .schema = R"({"type":"object","required":["name"],"properties":{)"
                                    R"("name":{"type":"string"},"user":{"type":"string"},)"
                                    R"("expiry":{"type":"string","example":"90d"},)"
                                    R"("roles":{"type":"array","items":{"type":"string"}}}})"},
       .responses = {{201, "the token", Content{}}},
       .auth = std::string(kKnown),
       .handler = Blocking([&](Request& request, Response& response) {
         CreateToken(context, request, response);
       })}));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kGet,
       .path = "/v1/tokens",
       .summary = "List tokens",
       .tag = "users",
       .description = "Your own; an admin sees all. The server does not keep the secrets.",
       .responses = {{200, "the tokens", Content{}}},
       .auth = std::string(kKnown),
       .handler = [&](Request& request, Response& response) {
         ListTokens(context, request, response);
       }}));
  return router.Add({.method = Method::kDelete,
                     .path = "/v1/tokens/{id}",
                     .summary = "Remove a token",
                     .tag = "users",
                     .responses = {{204, "removed"}, {404, "not found"}},
                     .auth = std::string(kKnown),
                     .handler = Blocking([&](Request& request, Response& response) {
                       RemoveToken(context, request, response);
                     })});
}

}  // namespace sluice::rest
