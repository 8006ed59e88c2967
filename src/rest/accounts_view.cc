#include "rest/accounts_view.h"

#include <utility>

#include "rest/body.h"

namespace sluice::rest {

json::Value RolesView(const auth::Grants& grants) {
  json::Value list = json::Value::EmptyArray();
  for (const auth::Grant& grant : grants) list.Append(json::Value(grant.ToString()));
  return list;
}

Result<std::optional<auth::Grants>> RolesField(const json::Value& body) {
  ASSIGN_OR_RETURN(const json::Value list, ListField(body, "roles"));
  if (list.is_missing()) return std::nullopt;
  auth::Grants grants;
  for (const json::Value& item : list.items()) {
    if (!item.is_string()) return BadField("roles", "a list of strings", list);
    ASSIGN_OR_RETURN(auth::Grant grant, auth::Grant::Parse(item.AsString()));
    grants.push_back(std::move(grant));
  }
  return grants;
}

}  // namespace sluice::rest
