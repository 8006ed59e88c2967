// /v1/users and /v1/whoami.
#include <utility>

#include "rest/access.h"
#include "rest/accounts_view.h"
#include "rest/body.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

json::Value UserView(const auth::User& user) {
  return json::Value::Object({{"name", user.name},
                              {"roles", RolesView(user.grants)},
                              {"created_ms", json::Value::Unsigned(user.created_ms)}});
}

void ListUsers(const Context& context, Response& response) {
  json::Value list = json::Value::EmptyArray();
  const auth::Accounts accounts = context.directory.accounts();
  for (const auto& [name, user] : accounts.users) list.Append(UserView(*user));
  response.Json(200, AnswerText(json::Value::Object({{"users", std::move(list)}})));
}

void AnswerUser(const Context& context, const Request& request, Response& response, int status) {
  const auth::UserPtr user = context.directory.FindUser(request.Param("name"));
  if (user == nullptr) {
    return response.Error(Error(Code::kNotFound, "auth.user_not_found", "there is no user '{}'",
                                request.Param("name")));
  }
  response.Json(status, AnswerText(UserView(*user)));
}

Result<auth::UserChange> ChangeOf(const Request& request) {
  ASSIGN_OR_RETURN(const json::Value body, ReadObject(request.body(), {"password", "roles"}));
  auth::UserChange change;
  change.name = request.Param("name");
  ASSIGN_OR_RETURN(change.password, StringField(body, "password"));
  ASSIGN_OR_RETURN(change.grants, RolesField(body));
  return change;
}

void PutUser(Context& context, const Request& request, Response& response) {
  const Result<auth::UserChange> change = ChangeOf(request);
  if (!change) return response.Error(change.error());
  const auto put = context.directory.PutUser(*change);
  if (!put) return response.Error(put.error());
  AnswerUser(context, request, response, *put == auth::Directory::Put::kCreated ? 201 : 200);
}

void WhoAmI(const Request& request, Response& response) {
  const auth::Principal& who = SenderOf(request);
  json::Value view = json::Value::Object({{"user", who.user}, {"roles", RolesView(who.grants)}});
  if (!who.token_id.empty()) view.Set("token", who.token_id);
  response.Json(200, AnswerText(view));
}

Status AddUserChanges(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPut,
       .path = "/v1/users/{name}",
       .summary = "Create or change a user",
       .tag = "users",
       .description = "Fields that you do not give stay unchanged; a new user needs a password.",
       .request = Content{.description = "password and roles: admin, reader:shop, writer:*, ...",
                          .schema = R"({"type":"object","properties":{"password":)"
                                    R"({"type":"string"},"roles":{"type":"array",)"
                                    R"("items":{"type":"string"}}}})"},
       .responses = {{201, "created", Content{}}, {200, "changed", Content{}}},
       .auth = std::string(kAdmin),
       .handler = Blocking(
           [&](Request& request, Response& response) { PutUser(context, request, response); })}));
  return router.Add(
      {.method = Method::kDelete,
       .path = "/v1/users/{name}",
       .summary = "Remove a user and its tokens",
       .tag = "users",
       .responses = {{204, "removed"}, {404, "not found"}, {409, "it is the last admin"}},
       .auth = std::string(kAdmin),
       .handler = Blocking([&](Request& request, Response& response) {
         const Status removed = context.directory.RemoveUser(request.Param("name"));
         if (!removed.ok()) return response.Error(removed);
         response.NoContent();
       })});
}

}  // namespace

Status AddUserRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(AddUserChanges(router, context));
  RETURN_IF_ERROR(
      router.Add({.method = Method::kGet,
                  .path = "/v1/users",
                  .summary = "List the users",
                  .tag = "users",
                  .responses = {{200, "the users", Content{}}},
                  .auth = std::string(kAdmin),
                  .handler = [&](Request&, Response& response) { ListUsers(context, response); }}));
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/v1/users/{name}",
                              .summary = "Show a user",
                              .tag = "users",
                              .responses = {{200, "the user", Content{}}, {404, "not found"}},
                              .auth = std::string(kAdmin),
                              .handler = [&](Request& request, Response& response) {
                                AnswerUser(context, request, response, 200);
                              }}));
  return router.Add({.method = Method::kGet,
                     .path = "/v1/whoami",
                     .summary = "The user of this request",
                     .tag = "users",
                     .responses = {{200, "user and roles", Content{}}},
                     .auth = std::string(kKnown),
                     .handler = WhoAmI});
}

}  // namespace sluice::rest
