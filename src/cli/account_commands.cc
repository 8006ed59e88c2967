// user list|add|rm|passwd and token create|list|rm.
#include <memory>

#include "base/time_text.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/secret.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

struct AccountOptions {
  std::string name;
  std::vector<std::string> roles;
  std::string password_file;
  std::string user;
  std::string expiry;
};

json::Value ListOf(const std::vector<std::string>& texts) {
  json::Value list = json::Value::EmptyArray();
  for (const std::string& text : texts) list.Append(text);
  return list;
}

std::string UserPath(const AccountOptions& options) { return "/v1/users/" + Segment(options.name); }

ApiRequest JsonRequest(std::string method, std::string path, const json::Value& body) {
  return {.method = std::move(method),
          .path = std::move(path),
          .headers = {{"Content-Type", "application/json"}},
          .body = json::ToText(body)};
}

// Roles as one text, for a table.
json::Value WithRolesText(const json::Value& rows, const Output& output) {
  if (output.json()) return rows;
  json::Value shown = json::Value::EmptyArray();
  for (json::Value row : rows.items()) {
    std::vector<std::string> roles;
    for (const json::Value& role : row["roles"].items()) roles.push_back(CellText(role));
    row.Set("roles", fmt::format("{}", fmt::join(roles, ", ")));
    if (const json::Value& expires = row["expires_ms"]; expires.is_int()) {
      row.Set("expires", UtcText(static_cast<uint64_t>(expires.AsInt())));
    }
    shown.Append(std::move(row));
  }
  return shown;
}

Status ListUsers(const AccountOptions&, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const json::Value answer, api->CallJson({.path = "/v1/users"}));
  context.output.Rows(WithRolesText(answer["users"], context.output),
                      {{"USER", "name"}, {"ROLES", "roles"}});
  return OkStatus();
}

Status AddUser(const AccountOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const json::Value answer, api->CallJson({.path = "/v1/users"}));
  for (const json::Value& user : answer["users"].items()) {
    if (user["name"] == json::Value(options.name)) {
      return Error(Code::kAlreadyExists, "cli.user_exists",
                   "there is a user '{}' already; user passwd changes a password", options.name);
    }
  }
  ASSIGN_OR_RETURN(const std::string password, ReadNewPassword(options.password_file, context));
  RETURN_IF_ERROR(api->Do(JsonRequest(
      "PUT", UserPath(options),
      json::Value::Object({{"password", password}, {"roles", ListOf(options.roles)}}))));
  context.output.Note(fmt::format("user {} created", options.name));
  return OkStatus();
}

Status RemoveUser(const AccountOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = "DELETE", .path = UserPath(options)}));
  context.output.Note(fmt::format("user {} removed", options.name));
  return OkStatus();
}

Status ChangePassword(const AccountOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.path = UserPath(options)}));  // PUT would create it
  ASSIGN_OR_RETURN(const std::string password, ReadNewPassword(options.password_file, context));
  RETURN_IF_ERROR(api->Do(
      JsonRequest("PUT", UserPath(options), json::Value::Object({{"password", password}}))));
  context.output.Note(fmt::format("password of {} changed", options.name));
  return OkStatus();
}

Status CreateToken(const AccountOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  json::Value body = json::Value::Object({{"name", options.name}});
  if (!options.user.empty()) body.Set("user", options.user);
  if (!options.expiry.empty()) body.Set("expiry", options.expiry);
  if (!options.roles.empty()) body.Set("roles", ListOf(options.roles));
  ASSIGN_OR_RETURN(const json::Value answer,
                   api->CallJson(JsonRequest("POST", "/v1/tokens", body)));
  if (context.output.json()) {
    context.output.Object(answer);
  } else {
    context.output.Line(CellText(answer["token"]));
    context.output.Note("keep it: it is not shown again");
  }
  return OkStatus();
}

Status ListTokens(const AccountOptions&, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const json::Value answer, api->CallJson({.path = "/v1/tokens"}));
  context.output.Rows(WithRolesText(answer["tokens"], context.output), {{"ID", "id"},
                                                                        {"NAME", "name"},
                                                                        {"USER", "user"},
                                                                        {"ROLES", "roles"},
                                                                        {"EXPIRES", "expires"}});
  return OkStatus();
}

Status RemoveToken(const AccountOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = "DELETE", .path = "/v1/tokens/" + Segment(options.name)}));
  context.output.Note(fmt::format("token {} removed", options.name));
  return OkStatus();
}

using AccountAction = Status (*)(const AccountOptions&, Context&);

CLI::App* AddAccountCommand(Program* program, CLI::App* group, const std::string& name,
                            const std::string& help, const std::shared_ptr<AccountOptions>& options,
                            AccountAction action) {
  return program->AddCommand(
      group, name, help, [options, action](Context& context) { return action(*options, context); });
}

}  // namespace

void AddAccountCommands(Program* program) {
  const auto options = std::make_shared<AccountOptions>();
  const char* const roles_help =
      "Role: admin, metrics, reader:BUCKET, writer:BUCKET, function_manager:BUCKET, query:BUCKET; "
      "* is every bucket";
  CLI::App* user = program->AddGroup("user", "Users");
  AddAccountCommand(program, user, "list", "List the users", options, &ListUsers);
  CLI::App* add = AddAccountCommand(program, user, "add", "Create a user", options, &AddUser);
  add->add_option("name", options->name, "User")->required();
  add->add_option("--role", options->roles, roles_help);
  add->add_option("--new-password-file", options->password_file,
                  "File with the password; - reads standard input (default: ask for it)");
  AddAccountCommand(program, user, "rm", "Remove a user and its tokens", options, &RemoveUser)
      ->add_option("name", options->name, "User")
      ->required();
  CLI::App* passwd =
      AddAccountCommand(program, user, "passwd", "Change a password", options, &ChangePassword);
  passwd->add_option("name", options->name, "User")->required();
  passwd->add_option("--new-password-file", options->password_file,
                     "File with the password; - reads standard input (default: ask for it)");

  CLI::App* token = program->AddGroup("token", "Access tokens of users");
  CLI::App* create = AddAccountCommand(program, token, "create", "Create a token and print it",
                                       options, &CreateToken);
  create->add_option("name", options->name, "What the token is for")->required();
  create->add_option("--for", options->user,
                     "User of the token (only admins may name another user)");
  create->add_option("--expiry", options->expiry, "Lifetime of the token: 90d");
  create->add_option("--role", options->roles, "Limit the token to these of the user's roles");
  AddAccountCommand(program, token, "list", "List tokens", options, &ListTokens);
  AddAccountCommand(program, token, "rm", "Remove a token", options, &RemoveToken)
      ->add_option("id", options->name, "Id, as token list shows it")
      ->required();
}

}  // namespace sluice::cli
