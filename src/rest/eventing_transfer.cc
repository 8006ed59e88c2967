// Functions in bulk: export and import, backup and restore, lists by filter.
#include <algorithm>

#include "base/random.h"
#include "json/parse.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/eventing_routes.h"
#include "rest/keyspace_filter.h"

namespace sluice::rest {
namespace {

using function::Definition;
using function::Secrets;
using json::Value;

Result<std::vector<Value>> Definitions(std::string_view body) {
  ASSIGN_OR_RETURN(const Value value, json::Parse(body));
  if (!value.is_array()) return std::vector<Value>{value};
  return std::vector<Value>(value.items().begin(), value.items().end());
}

std::string NameIn(const Value& definition) {
  const Value& name = definition["appname"];
  return name.is_string() ? std::string(name.AsString()) : "";
}

Result<Warnings> StoreValue(const EventingCall& call, const Value& value) {
  ASSIGN_OR_RETURN(Definition definition, function::ParseDefinition(value));
  return StoreFor(call, std::move(definition));
}

// Each by itself: one that is refused does not keep the others out.
void StoreFunctions(EventingCall& call) {
  const auto definitions = Definitions(call.request.body());
  if (!definitions) return call.Refuse(definitions.error());
  EventingResults results;
  for (const Value& one : *definitions) {
    results.Add(NameIn(one), StoreValue(call, one), "Successfully stored");
  }
  results.AnswerTo(call);
}

void Export(EventingCall& call) {
  Value list = Value::EmptyArray();
  for (const Definition& definition : ListManaged(call)) {
    list.Append(PrintDefinition(definition, Secrets::kMasked));
  }
  call.Answer(list);
}

// --- backup -------------------------------------------------------------------------------------

void BackUpFunctions(EventingCall& call) {
  const auto filter = KeyspaceFilter::Parse(call.request.Query("include").value_or(""),
                                            call.request.Query("exclude").value_or(""));
  if (!filter) return call.Refuse(filter.error());
  Value list = Value::EmptyArray();
  for (Definition& definition : ListManaged(call)) {
    if (!filter->Takes(definition.source)) continue;
    definition.settings.deployed = false;
    definition.settings.processing = false;
    list.Append(PrintDefinition(definition, Secrets::kMasked));
  }
  call.Answer(list);
}

void Remap(const KeyspaceRemap& remap, Definition* definition) {
  remap.Apply(&definition->source);
  remap.Apply(&definition->metadata);
  for (function::BucketBinding& binding : definition->buckets) remap.Apply(&binding.keyspace);
  if (definition->scope_bucket == "*") return;
  db::KeyspaceName scope{definition->scope_bucket, definition->scope_scope, "*"};
  remap.Apply(&scope);
  definition->scope_bucket = scope.bucket;
  definition->scope_scope = scope.scope;
}

Result<Warnings> RestoreOne(const EventingCall& call, const KeyspaceFilter& filter,
                            const KeyspaceRemap& remap, const Value& value, bool* taken) {
  ASSIGN_OR_RETURN(Definition definition, function::ParseDefinition(value));
  *taken = filter.Takes(definition.source);
  if (!*taken) return Warnings();
  Remap(remap, &definition);
  definition.settings.deployed = false;
  definition.settings.processing = false;
  if (call.manager.Find(definition.Location())) {
    definition.name += "_" + NewUuid().substr(0, 8);
  }
  return StoreFor(call, std::move(definition));
}

// Restored functions are undeployed. One whose name is in use gets another.
void RestoreFunctions(EventingCall& call) {
  const auto definitions = Definitions(call.request.body());
  if (!definitions) return call.Refuse(definitions.error());
  const auto filter = KeyspaceFilter::Parse(call.request.Query("include").value_or(""),
                                            call.request.Query("exclude").value_or(""));
  if (!filter) return call.Refuse(filter.error());
  const auto remap = KeyspaceRemap::Parse(call.request.Query("remap").value_or(""));
  if (!remap) return call.Refuse(remap.error());
  EventingResults results;
  for (const Value& one : *definitions) {
    bool taken = true;
    const Result<Warnings> restored = RestoreOne(call, *filter, *remap, one, &taken);
    if (taken || !restored) results.Add(NameIn(one), restored, "Successfully restored");
  }
  results.AnswerTo(call);
}

// --- lists --------------------------------------------------------------------------------------

// Whether it writes to its source, which is what `sbm` (source bucket mutation) asks for.
bool ChangesSource(const Definition& definition) {
  return std::ranges::any_of(definition.buckets, [&](const function::BucketBinding& binding) {
    return binding.writable && binding.keyspace == definition.source;
  });
}

using Filter = std::function<bool(const Definition&)>;

Result<std::vector<Filter>> ListFilters(const Request& request) {
  std::vector<Filter> filters;
  if (request.Query("deployed")) {
    ASSIGN_OR_RETURN(const bool deployed, request.QueryBool("deployed", false));
    filters.push_back([deployed](const Definition& d) { return d.settings.deployed == deployed; });
  }
  if (request.Query("curl_binding")) {
    ASSIGN_OR_RETURN(const bool curl, request.QueryBool("curl_binding", false));
    filters.push_back([curl](const Definition& d) { return d.urls.empty() != curl; });
  }
  if (const auto bucket = request.Query("source_bucket")) {
    filters.push_back([=](const Definition& d) { return d.source.bucket == *bucket; });
  }
  if (const auto scope = request.Query("source_scope")) {
    filters.push_back([=](const Definition& d) { return d.source.scope == *scope; });
  }
  if (const auto collection = request.Query("source_collection")) {
    filters.push_back([=](const Definition& d) { return d.source.collection == *collection; });
  }
  if (const auto type = request.Query("function_type")) {
    if (*type != "sbm" && *type != "notsbm") {
      return Fail(Code::kInvalidArgument, "http.bad_parameter",
                  "parameter 'function_type': expected sbm or notsbm, got '{}'", *type);
    }
    filters.push_back(
        [sbm = *type == "sbm"](const Definition& d) { return ChangesSource(d) == sbm; });
  }
  return filters;
}

void ListNames(EventingCall& call) {
  const auto filters = ListFilters(call.request);
  if (!filters) return call.Refuse(filters.error());
  Value names = Value::EmptyArray();
  for (const Definition& definition : ListManaged(call)) {
    const auto takes = [&](const Filter& filter) { return filter(definition); };
    if (std::ranges::all_of(*filters, takes)) names.Append(Value(definition.name));
  }
  call.Answer(Value::Object({{"functions", names}}));
}

constexpr EventingRoute kTransferRoutes[] = {
    {Method::kPost, "/api/v1/functions", "Create or replace functions", StoreFunctions, kKnown},
    {Method::kGet, "/api/v1/export", "All definitions", Export, kKnown},
    {Method::kPost, "/api/v1/import", "Store definitions that were exported", StoreFunctions,
     kKnown},
    {Method::kGet, "/api/v1/backup", "Definitions, by keyspaces", BackUpFunctions, kKnown},
    {Method::kPost, "/api/v1/backup", "Restore definitions of a backup", RestoreFunctions, kKnown},
    {Method::kGet, "/api/v1/list/functions", "Names of functions, by filters", ListNames, kKnown},
    {Method::kGet, "/api/v1/list/functions/query", "Names of functions, by filters", ListNames,
     kKnown},
};

}  // namespace

std::span<const EventingRoute> TransferRoutes() { return kTransferRoutes; }

}  // namespace sluice::rest
