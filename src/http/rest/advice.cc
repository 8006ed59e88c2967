#include "http/rest/advice.h"

#include <utility>

#include "db/catalog.h"
#include "db/index.h"
#include "db/sample.h"
#include "db/traffic.h"
#include "doctype/advice/advice.h"
#include "doctype/advice/observed.h"
#include "doctype/type_reader.h"
#include "http/rest/access.h"
#include "http/rest/body.h"
#include "http/rest/document_http.h"
#include "http/rest/expiry.h"
#include "http/worker_pool.h"
#include "json/parse.h"

namespace sluice::http::rest {
namespace {

using json::Value;

std::string NameOf(const db::Catalog& catalog, db::KeyspaceId keyspace) {
  const db::KeyspaceInfo* const info = catalog.Find(keyspace);
  return info == nullptr ? "(dropped)" : info->name.ToString();
}

// Names that the server itself reads: those of the types' properties, and of indexes.
void AddOwnNames(const db::KeyspaceInfo& keyspace, std::set<std::string>* names) {
  for (const db::TypeDefinition& type : keyspace.types) {
    const auto definition = json::Parse(type.text);
    if (!definition) continue;
    for (const json::Field& property : (*definition)["properties"].fields()) {
      const Value& name = property.value.is_object() ? property.value["name"] : property.value;
      if (name.is_string()) names->emplace(name.AsString());
    }
  }
  for (const auto& index : keyspace.indexes) {
    for (const db::IndexPart& part : index->definition().parts) {
      doctype::AddNames(part.path, names);
      doctype::AddNames(part.expression, names);
    }
    doctype::AddNames(index->definition().where, names);
  }
}

doctype::Observed ObservedOf(const Context& context, const db::KeyspaceInfo& keyspace,
                             const CodeVisitor& code) {
  const auto catalog = context.database.catalog();
  const db::Traffic& seen = context.database.operations().traffic();
  const db::KeyspaceTraffic traffic = seen.Of(keyspace.id);
  doctype::Observed observed;
  observed.since = FormatTimeMs(context.started_ms);
  observed.statements = traffic.statements;
  const uint64_t now_ms = context.database.clock().WallMs();
  observed.seconds = now_ms > context.started_ms ? (now_ms - context.started_ms) / 1000 : 0;
  observed.whole = traffic.whole;
  observed.paths = traffic.paths;
  observed.updates = traffic.updates;
  observed.changed = traffic.changed;
  observed.alone = traffic.alone;
  observed.longer = traffic.longer;
  observed.complete = traffic.complete;
  for (const auto& [join, runs] : traffic.joins) {
    observed.joins.push_back(
        {.from = NameOf(*catalog, join.from),
         .path = join.path,
         .to = NameOf(*catalog, join.to),
         .runs = runs,
         .statements =
             join.from == keyspace.id ? traffic.statements : seen.Of(join.from).statements,
         .updates = join.to == keyspace.id ? traffic.updates : seen.Of(join.to).updates});
  }
  code([&](std::string_view text) {
    ++observed.sources;
    doctype::AddNames(text, &observed.names);
  });
  AddOwnNames(keyspace, &observed.names);
  return observed;
}

doctype::TypeSet::Types TypesOf(const db::KeyspaceInfo& keyspace) {
  doctype::TypeSet::Types types;
  for (const db::TypeDefinition& definition : keyspace.types) {
    const auto text = json::Parse(definition.text);
    doctype::Problems problems;
    auto type = text ? doctype::ReadTypeJson(*text, definition.name, &problems) : std::nullopt;
    if (type) types.push_back(std::make_shared<const doctype::Type>(std::move(*type)));
  }
  return types;
}

Result<std::shared_ptr<const db::KeyspaceInfo>> KeyspaceOf(const Context& context,
                                                           const Request& request) {
  ASSIGN_OR_RETURN(const db::KeyspaceName name, db::KeyspaceName::Parse(request.Param("keyspace")));
  return context.database.catalog()->Resolve(name);
}

Result<Value> AdviceOf(const Context& context, const Request& request, const CodeVisitor& code) {
  ASSIGN_OR_RETURN(const auto keyspace, KeyspaceOf(context, request));
  ASSIGN_OR_RETURN(const bool full, request.QueryBool("full", false));
  ASSIGN_OR_RETURN(const bool mobile, request.QueryBool("mobile", false));
  ASSIGN_OR_RETURN(const int64_t sample, request.QueryInt("sample", 0, 1, INT64_MAX));
  const uint64_t wanted = full          ? db::kAllDocuments
                          : sample == 0 ? db::UsualSample(context.database, keyspace->id)
                                        : static_cast<uint64_t>(sample);
  ASSIGN_OR_RETURN(const uint64_t documents_there, context.database.CountDocuments(keyspace->id));
  const auto snapshot = context.database.NewSnapshot();
  doctype::Advice advice(TypesOf(*keyspace));
  const auto visit = [&](const auto& use) -> Status {
    const auto documents = db::NewSampleCursor(context.database, keyspace->id, wanted, *snapshot);
    while (documents->Next()) {
      const db::DocumentView& document = documents->document();
      if (document.datatype != db::Datatype::kJson) continue;
      RETURN_IF_ERROR(use(documents->key(), document.body));
    }
    return documents->status();
  };
  RETURN_IF_ERROR(
      visit([&](std::string_view, std::string_view document) { return advice.Look(document); }));
  RETURN_IF_ERROR(visit(
      [&](std::string_view key, std::string_view document) { return advice.Add(key, document); }));
  const doctype::Observed observed = ObservedOf(context, *keyspace, code);
  return advice.ToJson({.synchronised = mobile,
                        .keyspace = keyspace->name.ToString(),
                        .documents_there = documents_there},
                       &observed);
}

}  // namespace

Status AddAdviceRoutes(Router& router, Context& context, CodeVisitor code) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kGet,
       .path = "/v1/advice/{keyspace}",
       .summary = "Report what documents cost, and their likely problems",
       .tag = "types",
       .description =
           "From a sample of documents and from their observed use since the server's start.",
       .parameters = {{.name = "sample",
                       .description = "read this many random documents; default: all of up to a "
                                      "million documents or 1 GB, otherwise 10000",
                       .type = "integer"},
                      {.name = "full", .description = "read all documents", .type = "boolean"},
                      {.name = "mobile",
                       .description = "documents are synchronised with mobile devices",
                       .type = "boolean"}},
       .responses = {{200, "findings, and advice on embedding", Content{}},
                     {404, "there is no such keyspace"}},
       .auth = std::string(kAdmin),
       .handler = Blocking([&context, code](Request& request, Response& response) {
         const Result<Value> advice = AdviceOf(context, request, code);
         if (!advice) return response.Error(advice.error());
         response.Json(200, AnswerText(*advice));
       })}));
  return router.Add(
      {.method = Method::kGet,
       .path = "/v1/advice/{keyspace}/observed",
       .summary = "The observed use of documents since the server's start",
       .tag = "types",
       .responses = {{200, "statements by path, joins, updates, names in code", Content{}},
                     {404, "there is no such keyspace"}},
       .auth = std::string(kAdmin),
       .handler =
           Blocking([&context, code = std::move(code)](Request& request, Response& response) {
             const auto keyspace = KeyspaceOf(context, request);
             if (!keyspace) return response.Error(keyspace.error());
             response.Json(200, AnswerText(doctype::ToJson(ObservedOf(context, **keyspace, code))));
           })});
}

}  // namespace sluice::http::rest
