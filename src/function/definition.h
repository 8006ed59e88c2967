// A function as its author declares it: code, source, bindings, settings. The JSON form is that of
// Couchbase Eventing, so that functions that were exported there can be imported here.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/types.h"
#include "function/settings.h"
#include "function/source/transpile.h"
#include "json/value.h"

namespace sluice::function {

struct BucketBinding {
  std::string alias;
  db::KeyspaceName keyspace;  // scope and collection may be "*"
  bool writable = true;

  bool wildcard() const { return keyspace.wildcard(); }
  // False for a binding to a table: only statements write rows.
  bool writes_documents() const;
};

struct UrlBinding {
  std::string alias;
  std::string hostname;  // the URL that all requests begin with: http:// or https://
  std::string auth_type = "no-auth";
  std::string username;
  std::string password;
  std::string bearer_key;
  bool allow_cookies = false;
  bool validate_certificate = true;
};

struct Definition {
  std::string name;
  std::string code;
  std::string scope_bucket = "*";  // function_scope
  std::string scope_scope = "*";
  db::KeyspaceName source;
  db::KeyspaceName metadata;
  std::vector<BucketBinding> buckets;
  std::vector<UrlBinding> urls;
  std::vector<ConstantBinding> constants;
  Settings settings;
  bool enforce_schema = false;  // unknown settings are refused; otherwise they give a warning
  uint64_t uuid = 0;            // handleruuid: new with each deploy
  std::string instance_id;      // function_instance_id
  // Not Couchbase's: the user who stored it is no admin, so its statements may read only the
  // buckets of its source and bindings, and write only to those of its writable bindings.
  bool confined = false;
  // The code of a task that flows call uses a definition, too: as the place of its code, bindings
  // and settings. Such a definition is neither stored nor printed.
  CodeKind kind = CodeKind::kHandlers;
  bool is_task() const { return kind == CodeKind::kTask; }

  // The name that no other function has: its own, or bucket/scope/name if it has a scope.
  std::string Location() const { return LocationOf(scope_bucket, scope_scope, name); }
  static std::string LocationOf(const std::string& bucket, const std::string& scope,
                                const std::string& name);
};

// The version of Couchbase whose interfaces this server has: definitions carry it, and tools that
// ask the server for a version get it.
inline constexpr std::string_view kCouchbaseVersion = "7.6.0-0000";

// In the names of a scope that clients give, by ?bucket= and ?scope= or in JSON, an empty name
// means the same as "*".
inline std::string AnyIfEmpty(std::string_view name) {
  return std::string(name.empty() ? "*" : name);
}

// Stands for a password or key in answers, and for the stored one in requests.
inline constexpr std::string_view kMaskedSecret = "*****";

// `where` in messages is the field's place in the JSON: depcfg.buckets[0].alias.
Result<Definition> ParseDefinition(const json::Value& value);
enum class Secrets : uint8_t { kShown, kMasked };
json::Value PrintDefinition(const Definition& definition, Secrets secrets);
// The part "depcfg" of a definition, which has a REST resource of its own.
json::Value PrintDeployment(const Definition& definition, Secrets secrets);  // depcfg
Status ParseDeployment(const json::Value& value, Definition* definition);    // replaces all of it

// Checks the name of a binding and adds it to `known`. Error function.invalid_alias.
Status CheckAlias(const std::string& where, std::string_view alias, std::set<std::string>* known);

// Replaces masked secrets of `next` by those of `stored` where alias, host, kind of authentication
// and user are the same. The others stay masked; CheckSecrets refuses them before a deployment.
void KeepSecrets(const Definition& stored, Definition* next);
Status CheckSecrets(const Definition& definition);

}  // namespace sluice::function
