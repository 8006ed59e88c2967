#include "function/definition.h"

#include <algorithm>
#include <set>

#include "base/nearest.h"

namespace sluice::function {
namespace {

using json::Value;

Status Invalid(const std::string& where, std::string_view expected, const Value& got) {
  return Error(Code::kInvalidArgument, "function.invalid_definition", "{}: expected {}, got {}",
               where, expected, got.is_missing() ? "nothing" : json::TypeName(got.type()));
}

// Reads members of one object and keeps the first error.
class Reader {
 public:
  Reader(const Value& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) status_ = Invalid(where_, "an object", object);
  }

  const Status& status() const { return status_; }
  const Value& Member(std::string_view name) const { return object_[name]; }
  std::string Where(std::string_view name) const {
    return where_.empty() ? std::string(name) : fmt::format("{}.{}", where_, name);
  }

  void Text(std::string_view name, std::string* to, bool needed = false) {
    const Value& value = Member(name);
    if (value.is_missing() && !needed) return;
    if (!value.is_string()) return Fail(Invalid(Where(name), "a string", value));
    *to = value.AsString();
  }
  void Flag(std::string_view name, bool* to) {
    const Value& value = Member(name);
    if (value.is_missing()) return;
    if (!value.is_bool()) return Fail(Invalid(Where(name), "true or false", value));
    *to = value.AsBool();
  }
  void Number(std::string_view name, uint32_t min, uint32_t max, uint32_t* to) {
    const Value& value = Member(name);
    if (value.is_missing()) return;
    if (!value.is_int() || value.AsInt() < min || value.AsInt() > max) {
      return Fail(
          Invalid(Where(name), fmt::format("a whole number from {} to {}", min, max), value));
    }
    *to = static_cast<uint32_t>(value.AsInt());
  }
  void Texts(std::string_view name, std::vector<std::string>* to) {
    const Value& value = Member(name);
    if (value.is_missing()) return;
    if (!value.is_array()) return Fail(Invalid(Where(name), "an array of strings", value));
    to->clear();
    for (const Value& item : value.items()) {
      if (!item.is_string()) return Fail(Invalid(Where(name), "an array of strings", item));
      to->emplace_back(item.AsString());
    }
  }
  void OneOf(std::string_view name, std::initializer_list<std::string_view> choices,
             std::string* to) {
    Text(name, to);
    if (!status_.ok() || std::ranges::find(choices, *to) != choices.end()) return;
    Fail(Error(Code::kInvalidArgument, "function.invalid_definition",
               "{}: expected one of {}, got '{}'", Where(name), fmt::join(choices, ", "), *to));
  }
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

 private:
  const Value& object_;
  const std::string where_;
  Status status_;
};

void ReadKeyspace(Reader& reader, const std::string& prefix, db::KeyspaceName* keyspace) {
  reader.Text(prefix + "_bucket", &keyspace->bucket, true);
  reader.Text(prefix + "_scope", &keyspace->scope);
  reader.Text(prefix + "_collection", &keyspace->collection);
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

Status CheckAlias(const std::string& where, std::string_view alias, std::set<std::string>* known) {
  const auto part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  const bool ok = !alias.empty() && alias.size() <= 64 &&
                  std::isdigit(static_cast<unsigned char>(alias[0])) == 0 &&
                  std::ranges::all_of(alias, part);
  if (!ok) {
    return Error(Code::kInvalidArgument, "function.invalid_alias",
                 "{}: a binding's name is a JavaScript identifier of at most 64 characters, got "
                 "'{}'",
                 where, alias);
  }
  if (!known->emplace(alias).second) {
    return Error(Code::kInvalidArgument, "function.invalid_alias",
                 "{}: two bindings are named '{}'", where, alias);
  }
  return OkStatus();
}

Status ReadBucket(const Value& value, const std::string& where, BucketBinding* binding) {
  Reader reader(value, where);
  reader.Text("alias", &binding->alias, true);
  reader.Text("bucket_name", &binding->keyspace.bucket, true);
  reader.Text("scope_name", &binding->keyspace.scope);
  reader.Text("collection_name", &binding->keyspace.collection);
  std::string access = "rw";
  reader.OneOf("access", {"r", "rw"}, &access);
  binding->writable = access == "rw";
  return reader.status();
}

Status ReadUrl(const Value& value, const std::string& where, UrlBinding* binding) {
  Reader reader(value, where);
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
  Reader reader(value, where);
  reader.Text("value", &binding->alias, true);
  reader.Text("literal", &binding->literal, true);
  return reader.status();
}

template <typename Binding>
Status ReadBindings(const Value& list, const std::string& where, std::set<std::string>* aliases,
                    Status (*read)(const Value&, const std::string&, Binding*),
                    std::vector<Binding>* to) {
  if (list.is_missing() || list.is_null()) return OkStatus();
  if (!list.is_array()) return Invalid(where, "an array", list);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", where, i);
    Binding binding;
    RETURN_IF_ERROR(read(list.items()[i], place, &binding));
    RETURN_IF_ERROR(CheckAlias(place, binding.alias, aliases));
    to->push_back(std::move(binding));
  }
  return OkStatus();
}

Status ReadDeployment(const Value& value, Definition* definition) {
  Reader reader(value, "depcfg");
  RETURN_IF_ERROR(reader.status());
  ReadKeyspace(reader, "source", &definition->source);
  ReadKeyspace(reader, "metadata", &definition->metadata);
  RETURN_IF_ERROR(reader.status());
  std::set<std::string> aliases;
  RETURN_IF_ERROR(ReadBindings(reader.Member("buckets"), "depcfg.buckets", &aliases, ReadBucket,
                               &definition->buckets));
  RETURN_IF_ERROR(
      ReadBindings(reader.Member("curl"), "depcfg.curl", &aliases, ReadUrl, &definition->urls));
  return ReadBindings(reader.Member("constants"), "depcfg.constants", &aliases, ReadConstant,
                      &definition->constants);
}

constexpr std::string_view kRead[] = {
    "deployment_status", "processing_status", "dcp_stream_boundary", "worker_count",
    "execution_timeout", "on_deploy_timeout", "timer_context_size",  "language_compatibility",
    "n1ql_consistency",  "handler_headers",   "handler_footers",     "meta_previous"};

Status ReadSettings(const Value& value, Settings* settings) {
  if (value.is_missing()) return OkStatus();
  Reader reader(value, "settings");
  RETURN_IF_ERROR(reader.status());
  reader.Flag("deployment_status", &settings->deployed);
  reader.Flag("processing_status", &settings->processing);
  std::string boundary = settings->boundary == Boundary::kEverything ? "everything" : "from_now";
  reader.OneOf("dcp_stream_boundary", {"everything", "from_now"}, &boundary);
  settings->boundary = boundary == "everything" ? Boundary::kEverything : Boundary::kFromNow;
  reader.Number("worker_count", 1, 64, &settings->worker_count);
  reader.Number("execution_timeout", 1, 3600, &settings->execution_timeout_s);
  reader.Number("on_deploy_timeout", 1, 3600, &settings->on_deploy_timeout_s);
  reader.Number("timer_context_size", 20, 20 << 20, &settings->timer_context_bytes);
  reader.OneOf("language_compatibility", {"6.0.0", "6.5.0", "6.6.2", "7.2.0"}, &settings->language);
  reader.OneOf("n1ql_consistency", {"", "none", "request"}, &settings->consistency);
  reader.Texts("handler_headers", &settings->handler_headers);
  reader.Texts("handler_footers", &settings->handler_footers);
  reader.Flag("meta_previous", &settings->previous);
  if (settings->consistency.empty()) settings->consistency = "none";
  settings->others = Value::EmptyObject();
  for (const json::Field& field : value.fields()) {
    if (std::ranges::find(kRead, field.name()) == std::end(kRead)) {
      settings->others.Set(field.name(), field.value);
    }
  }
  return reader.status();
}

Value Texts(const std::vector<std::string>& texts) {
  Value list = Value::EmptyArray();
  for (const std::string& text : texts) list.Append(Value(text));
  return list;
}

Value PrintSettings(const Settings& settings) {
  Value value = settings.others.is_object() ? settings.others : Value::EmptyObject();
  value.Set("deployment_status", settings.deployed);
  value.Set("processing_status", settings.processing);
  value.Set("dcp_stream_boundary",
            settings.boundary == Boundary::kEverything ? "everything" : "from_now");
  value.Set("worker_count", settings.worker_count);
  value.Set("execution_timeout", settings.execution_timeout_s);
  value.Set("on_deploy_timeout", settings.on_deploy_timeout_s);
  value.Set("timer_context_size", settings.timer_context_bytes);
  value.Set("language_compatibility", settings.language);
  value.Set("n1ql_consistency", settings.consistency);
  value.Set("handler_headers", Texts(settings.handler_headers));
  value.Set("handler_footers", Texts(settings.handler_footers));
  if (settings.previous) value.Set("meta_previous", true);
  return value;
}

Value PrintBucket(const BucketBinding& binding) {
  return Value::Object({{"alias", binding.alias},
                        {"bucket_name", binding.keyspace.bucket},
                        {"scope_name", binding.keyspace.scope},
                        {"collection_name", binding.keyspace.collection},
                        {"access", binding.writable ? "rw" : "r"}});
}

Value PrintUrl(const UrlBinding& binding) {
  return Value::Object({{"hostname", binding.hostname},
                        {"value", binding.alias},
                        {"auth_type", binding.auth_type},
                        {"username", binding.username},
                        {"password", binding.password},
                        {"bearer_key", binding.bearer_key},
                        {"allow_cookies", binding.allow_cookies},
                        {"validate_ssl_certificate", binding.validate_certificate}});
}

}  // namespace

Result<Definition> ParseDefinition(const Value& value) {
  Definition definition;
  Reader reader(value, "");
  RETURN_IF_ERROR(reader.status());
  reader.Text("appname", &definition.name, true);
  reader.Text("appcode", &definition.code, true);
  reader.Text("function_instance_id", &definition.instance_id);
  RETURN_IF_ERROR(reader.status());
  RETURN_IF_ERROR(CheckFunctionName(definition.name));
  if (const Value& uuid = reader.Member("handleruuid"); uuid.is_int()) {
    definition.uuid = static_cast<uint64_t>(uuid.AsInt());
  }
  if (const Value& scope = reader.Member("function_scope"); scope.is_object()) {
    Reader scope_reader(scope, "function_scope");
    scope_reader.Text("bucket", &definition.scope_bucket);
    scope_reader.Text("scope", &definition.scope_scope);
    RETURN_IF_ERROR(scope_reader.status());
  }
  RETURN_IF_ERROR(ReadDeployment(reader.Member("depcfg"), &definition));
  RETURN_IF_ERROR(ReadSettings(reader.Member("settings"), &definition.settings));
  return definition;
}

Value PrintDefinition(const Definition& definition) {
  Value buckets = Value::EmptyArray();
  for (const BucketBinding& binding : definition.buckets) buckets.Append(PrintBucket(binding));
  Value urls = Value::EmptyArray();
  for (const UrlBinding& binding : definition.urls) urls.Append(PrintUrl(binding));
  Value constants = Value::EmptyArray();
  for (const ConstantBinding& binding : definition.constants) {
    constants.Append(Value::Object({{"value", binding.alias}, {"literal", binding.literal}}));
  }
  const Value depcfg = Value::Object({{"source_bucket", definition.source.bucket},
                                      {"source_scope", definition.source.scope},
                                      {"source_collection", definition.source.collection},
                                      {"metadata_bucket", definition.metadata.bucket},
                                      {"metadata_scope", definition.metadata.scope},
                                      {"metadata_collection", definition.metadata.collection},
                                      {"buckets", buckets},
                                      {"curl", urls},
                                      {"constants", constants}});
  return Value::Object({{"appname", definition.name},
                        {"appcode", definition.code},
                        {"version", "evt-7.6.0-0000-ee"},
                        {"enforce_schema", false},
                        {"handleruuid", static_cast<int64_t>(definition.uuid)},
                        {"function_instance_id", definition.instance_id},
                        {"function_scope", Value::Object({{"bucket", definition.scope_bucket},
                                                          {"scope", definition.scope_scope}})},
                        {"depcfg", depcfg},
                        {"settings", PrintSettings(definition.settings)}});
}

}  // namespace sluice::function
