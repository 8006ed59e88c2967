#include "function/definition.h"

#include <algorithm>
#include <set>

#include "db/table_schema.h"
#include "function/field_reader.h"
#include "function/source/characters.h"
#include "query/parse/terminal.h"

namespace sluice::function {
namespace {

using json::Value;

// Text that may be empty, which stands for nothing given.
void ReadName(FieldReader& reader, const std::string& field, std::string* name) {
  std::string given;
  reader.Text(field, &given);
  if (!given.empty()) *name = std::move(given);
}

void ReadKeyspace(FieldReader& reader, const std::string& prefix, db::KeyspaceName* keyspace) {
  reader.Text(prefix + "_bucket", &keyspace->bucket, true);
  ReadName(reader, prefix + "_scope", &keyspace->scope);
  ReadName(reader, prefix + "_collection", &keyspace->collection);
}

// Letters, digits, `_` and `-`, not beginning with the last two, at most 100.
Status CheckFunctionName(std::string_view name) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const bool ok =
      !name.empty() && name.size() <= 100 && letter(name[0]) &&
      std::ranges::all_of(name, [&](char c) { return letter(c) || c == '_' || c == '-'; });
  if (ok) return OkStatus();
  return Error(Code::kInvalidArgument, "function.invalid_name",
               "a function's name begins with a letter or digit, continues with those, '_' or '-', "
               "and has at most 100 characters; got '{}'",
               name);
}

bool IsSqlReserved(std::string_view word) {
  std::string upper(word);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return query::Terminal::Of(upper).reserved();
}

Status ReadBucket(const Value& value, const std::string& where, BucketBinding* binding) {
  FieldReader reader(value, where);
  reader.Text("alias", &binding->alias, true);
  reader.Text("bucket_name", &binding->keyspace.bucket, true);
  ReadName(reader, "scope_name", &binding->keyspace.scope);
  ReadName(reader, "collection_name", &binding->keyspace.collection);
  std::string access = "rw";
  ReadName(reader, "access", &access);
  if (access != "r" && access != "rw") {
    return Error(Code::kInvalidArgument, "function.invalid_definition",
                 "{}: expected one of r, rw, got '{}'", reader.Where("access"), access);
  }
  binding->writable = access == "rw";
  return reader.status();
}

Status ReadUrl(const Value& value, const std::string& where, UrlBinding* binding) {
  FieldReader reader(value, where);
  reader.Text("value", &binding->alias, true);
  reader.Text("hostname", &binding->hostname, true);
  reader.OneOf("auth_type", {"no-auth", "basic", "bearer", "digest"}, &binding->auth_type);
  reader.Text("username", &binding->username);
  reader.Text("password", &binding->password);
  reader.Text("bearer_key", &binding->bearer_key);
  reader.Flag("allow_cookies", &binding->allow_cookies);
  reader.Flag("validate_ssl_certificate", &binding->validate_certificate);
  if (reader.status().ok() && !binding->hostname.starts_with("http://") &&
      !binding->hostname.starts_with("https://")) {
    return Error(Code::kInvalidArgument, "function.invalid_definition",
                 "{}: expected a URL that begins with http:// or https://, got '{}'",
                 reader.Where("hostname"), binding->hostname);
  }
  return reader.status();
}

Status ReadConstant(const Value& value, const std::string& where, ConstantBinding* binding) {
  FieldReader reader(value, where);
  reader.Text("value", &binding->alias, true);
  reader.Text("literal", &binding->literal, true);
  return reader.status();
}

template <typename Binding>
Status ReadBindings(const Value& list, const std::string& where, std::set<std::string>* aliases,
                    Status (*read)(const Value&, const std::string&, Binding*),
                    std::vector<Binding>* to) {
  if (list.is_missing() || list.is_null()) return OkStatus();
  if (!list.is_array()) return InvalidField(where, "an array", list);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", where, i);
    Binding binding;
    RETURN_IF_ERROR(read(list.items()[i], place, &binding));
    RETURN_IF_ERROR(CheckAlias(place, binding.alias, aliases));
    to->push_back(std::move(binding));
  }
  return OkStatus();
}

Value PrintBucket(const BucketBinding& binding) {
  return Value::Object({{"alias", binding.alias},
                        {"bucket_name", binding.keyspace.bucket},
                        {"scope_name", binding.keyspace.scope},
                        {"collection_name", binding.keyspace.collection},
                        {"access", binding.writable ? "rw" : "r"}});
}

Value PrintUrl(const UrlBinding& binding, Secrets secrets) {
  const auto secret = [&](const std::string& text) {
    return secrets == Secrets::kShown || text.empty() ? Value(text) : Value(kMaskedSecret);
  };
  return Value::Object({{"hostname", binding.hostname},
                        {"value", binding.alias},
                        {"auth_type", binding.auth_type},
                        {"username", binding.username},
                        {"password", secret(binding.password)},
                        {"bearer_key", secret(binding.bearer_key)},
                        {"allow_cookies", binding.allow_cookies},
                        {"validate_ssl_certificate", binding.validate_certificate}});
}

}  // namespace

bool BucketBinding::writes_documents() const {
  return writable && keyspace.bucket != db::kTablesBucket;
}

Status CheckAlias(const std::string& where, std::string_view alias, std::set<std::string>* known) {
  const auto refuse = [&](std::string_view why) {
    return Error(Code::kInvalidArgument, "function.invalid_alias", "{}: {}, got '{}'", where, why,
                 alias);
  };
  if (IsReservedWord(alias)) return refuse("a binding can't have a word of JavaScript as its name");
  if (IsSqlReserved(alias)) return refuse("a binding can't have a word of SQL++ as its name");
  if (IsBuiltInName(alias)) return refuse("a binding can't have the name of a built-in");
  if (alias.size() > 64 || !IsPlainName(alias)) {
    return refuse("a binding's name is a JavaScript identifier of at most 64 characters");
  }
  if (!known->emplace(alias).second) return refuse("two bindings can't have the same name");
  return OkStatus();
}

std::string Definition::LocationOf(const std::string& bucket, const std::string& scope,
                                   const std::string& name) {
  return bucket == "*" ? name : fmt::format("{}/{}/{}", bucket, scope, name);
}

Status ParseDeployment(const Value& value, Definition* definition) {
  FieldReader reader(value, "depcfg");
  RETURN_IF_ERROR(reader.status());
  definition->source = {};
  definition->metadata = {};
  definition->buckets.clear();
  definition->urls.clear();
  definition->constants.clear();
  ReadKeyspace(reader, "source", &definition->source);
  ReadKeyspace(reader, "metadata", &definition->metadata);
  RETURN_IF_ERROR(reader.status());
  if (definition->source == definition->metadata) {
    return Error(Code::kInvalidArgument, "function.same_keyspace",
                 "depcfg: the source and the metadata keyspace must differ, both are {}",
                 definition->source.ToString());
  }
  std::set<std::string> aliases;
  RETURN_IF_ERROR(ReadBindings(reader.Member("buckets"), "depcfg.buckets", &aliases, ReadBucket,
                               &definition->buckets));
  RETURN_IF_ERROR(
      ReadBindings(reader.Member("curl"), "depcfg.curl", &aliases, ReadUrl, &definition->urls));
  return ReadBindings(reader.Member("constants"), "depcfg.constants", &aliases, ReadConstant,
                      &definition->constants);
}

Result<Definition> ParseDefinition(const Value& value) {
  Definition definition;
  FieldReader reader(value, "");
  RETURN_IF_ERROR(reader.status());
  reader.Text("appname", &definition.name, true);
  reader.Text("appcode", &definition.code, true);
  reader.Text("function_instance_id", &definition.instance_id);
  reader.Flag("confined", &definition.confined);
  reader.Flag("enforce_schema", &definition.enforce_schema);
  RETURN_IF_ERROR(reader.status());
  RETURN_IF_ERROR(CheckFunctionName(definition.name));
  if (const Value& uuid = reader.Member("handleruuid"); uuid.is_int()) {
    definition.uuid = static_cast<uint64_t>(uuid.AsInt());
  }
  if (const Value& scope = reader.Member("function_scope"); scope.is_object()) {
    FieldReader scope_reader(scope, "function_scope");
    scope_reader.Text("bucket", &definition.scope_bucket);
    scope_reader.Text("scope", &definition.scope_scope);
    RETURN_IF_ERROR(scope_reader.status());
    definition.scope_bucket = AnyIfEmpty(definition.scope_bucket);
    definition.scope_scope = AnyIfEmpty(definition.scope_scope);
    if ((definition.scope_bucket == "*") != (definition.scope_scope == "*")) {
      return Fail(Code::kInvalidArgument, "function.invalid_definition",
                  "function_scope: expected a bucket and a scope, or * for both, got {}.{}",
                  definition.scope_bucket, definition.scope_scope);
    }
  }
  RETURN_IF_ERROR(ParseDeployment(reader.Member("depcfg"), &definition));
  RETURN_IF_ERROR(ParseSettings(
      reader.Member("settings"), &definition.settings,
      definition.enforce_schema ? UnknownSettings::kRefused : UnknownSettings::kKept));
  return definition;
}

Value PrintDeployment(const Definition& definition, Secrets secrets) {
  Value buckets = Value::EmptyArray();
  for (const BucketBinding& binding : definition.buckets) buckets.Append(PrintBucket(binding));
  Value urls = Value::EmptyArray();
  for (const UrlBinding& binding : definition.urls) urls.Append(PrintUrl(binding, secrets));
  Value constants = Value::EmptyArray();
  for (const ConstantBinding& binding : definition.constants) {
    constants.Append(Value::Object({{"value", binding.alias}, {"literal", binding.literal}}));
  }
  return Value::Object({{"source_bucket", definition.source.bucket},
                        {"source_scope", definition.source.scope},
                        {"source_collection", definition.source.collection},
                        {"metadata_bucket", definition.metadata.bucket},
                        {"metadata_scope", definition.metadata.scope},
                        {"metadata_collection", definition.metadata.collection},
                        {"buckets", buckets},
                        {"curl", urls},
                        {"constants", constants}});
}

Value PrintDefinition(const Definition& definition, Secrets secrets) {
  Value value = Value::Object(
      {{"appname", definition.name},
       {"appcode", definition.code},
       {"version", fmt::format("evt-{}-ee", kCouchbaseVersion)},
       {"enforce_schema", definition.enforce_schema},
       {"handleruuid", static_cast<int64_t>(definition.uuid)},
       {"function_instance_id", definition.instance_id},
       {"function_scope",
        Value::Object({{"bucket", definition.scope_bucket}, {"scope", definition.scope_scope}})},
       {"depcfg", PrintDeployment(definition, secrets)},
       {"settings", PrintSettings(definition.settings)}});
  if (definition.confined) value.Set("confined", true);
  return value;
}

void KeepSecrets(const Definition& stored, Definition* next) {
  for (UrlBinding& url : next->urls) {
    const auto same = std::ranges::find_if(stored.urls, [&](const UrlBinding& other) {
      return other.alias == url.alias && other.hostname == url.hostname &&
             other.auth_type == url.auth_type && other.username == url.username;
    });
    if (same == stored.urls.end()) continue;
    if (url.password == kMaskedSecret) url.password = same->password;
    if (url.bearer_key == kMaskedSecret) url.bearer_key = same->bearer_key;
  }
}

Status CheckSecrets(const Definition& definition) {
  for (const UrlBinding& url : definition.urls) {
    const bool bearer = url.auth_type == "bearer";
    const bool used = url.auth_type != "no-auth";
    if (used && (bearer ? url.bearer_key : url.password) == kMaskedSecret) {
      return Error(Code::kInvalidArgument, "function.secret_missing",
                   "the {} of the URL binding '{}' is not stored here; store the function with it",
                   bearer ? "bearer_key" : "password", url.alias);
    }
  }
  return OkStatus();
}

}  // namespace sluice::function
