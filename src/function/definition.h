// A function as its owner declares it: code, source, bindings, settings. The JSON form is that of
// Couchbase Eventing, so that what was exported there can be imported here.
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
  // Rows of tables are written by statements alone.
  bool writes_documents() const;
};

struct UrlBinding {
  std::string alias;
  std::string hostname;  // http:// or https://, and what all requests begin with
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
  bool enforce_schema = false;  // settings that nobody knows are refused, and not only told of
  uint64_t uuid = 0;            // handleruuid: new with each deploy
  std::string instance_id;      // function_instance_id
  // Ours: stored by somebody who is no admin, so that its statements may only read the buckets of
  // its source and bindings, and only write to those of its writable bindings.
  bool confined = false;
  // The code of a task that flows call uses a definition, too: as the place of its code, bindings
  // and settings. Such a definition is neither stored nor printed.
  CodeKind kind = CodeKind::kHandlers;
  bool is_task() const { return kind == CodeKind::kTask; }

  // What it is called among all functions: its name, or bucket/scope/name if it has a scope.
  std::string Location() const { return LocationOf(scope_bucket, scope_scope, name); }
  static std::string LocationOf(const std::string& bucket, const std::string& scope,
                                const std::string& name);
};

// What definitions say that they were made by, and the server is to tools that ask for a version:
// the Couchbase whose interfaces it has.
inline constexpr std::string_view kCouchbaseVersion = "7.6.0-0000";

// Where clients name a scope by ?bucket= and ?scope=, or in JSON, nothing means all, as "*" does.
inline std::string AnyIfEmpty(std::string_view name) {
  return std::string(name.empty() ? "*" : name);
}

// What stands for a password or key in answers, and for the stored one in requests.
inline constexpr std::string_view kMaskedSecret = "*****";

// `where` in messages is the field's place in the JSON: depcfg.buckets[0].alias.
Result<Definition> ParseDefinition(const json::Value& value);
enum class Secrets : uint8_t { kShown, kMasked };
json::Value PrintDefinition(const Definition& definition, Secrets secrets);
// The parts of it that have resources of their own.
json::Value PrintDeployment(const Definition& definition, Secrets secrets);  // depcfg
Status ParseDeployment(const json::Value& value, Definition* definition);    // replaces all of it

// Whether a binding may have this name, which goes to `known`. Error function.invalid_alias.
Status CheckAlias(const std::string& where, std::string_view alias, std::set<std::string>* known);

// Masked secrets of `next` become those of `stored` where alias, host, kind of authentication and
// user are the same. Others stay masked; CheckSecrets refuses to deploy those.
void KeepSecrets(const Definition& stored, Definition* next);
Status CheckSecrets(const Definition& definition);

}  // namespace sluice::function
