// /v1/types: document types.
#include <utility>

#include "db/catalog.h"
#include "db/sample.h"
#include "doctype/loaded_type.h"
#include "doctype/type_json.h"
#include "doctype/type_set.h"
#include "doctype_db/keyspace_policy.h"
#include "doctype_db/policy_compiler.h"
#include "json/parse.h"
#include "json/print.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

using json::Value;

Value Summary(const db::KeyspaceInfo& keyspace, const db::TypeDefinition& type) {
  Value view = Value::Object({{"type", type.name}, {"keyspace", keyspace.name.ToString()}});
  const auto definition = json::Parse(type.text);
  if (!definition) return view;
  for (const std::string_view field : {"match", "schema", "validate", "migrate", "revisions"}) {
    const Value& value = (*definition)[field];
    if (!value.is_missing()) view.Set(std::string(field), value);
  }
  return view;
}

void ListTypes(const Context& context, Response& response) {
  Value list = Value::EmptyArray();
  const auto catalog = context.database.catalog();
  for (const auto& [id, keyspace] : catalog->keyspaces()) {
    for (const db::TypeDefinition& type : keyspace->types) list.Append(Summary(*keyspace, type));
  }
  response.Json(200, AnswerText(Value::Object({{"types", std::move(list)}})));
}

Status NoType(std::string_view name) {
  return Error(Code::kNotFound, "type.not_found", "there is no document type '{}'", name);
}

void ShowType(const Context& context, const Request& request, Response& response) {
  const std::string_view name = request.Param("type");
  const auto catalog = context.database.catalog();
  const db::KeyspaceInfo* const keyspace = catalog->FindType(name);
  if (keyspace == nullptr) return response.Error(NoType(name));
  for (const db::TypeDefinition& type : keyspace->types) {
    if (type.name == name) return response.Json(200, type.text + "\n");
  }
}

struct NewType {
  std::shared_ptr<const doctype::LoadedType> loaded;
  db::KeyspaceName keyspace;
  Value warnings = Value::EmptyArray();
};

Result<NewType> NewTypeOf(const Context& context, const Request& request) {
  const std::string name(request.Param("type"));
  ASSIGN_OR_RETURN(const Value text, json::Parse(request.body()));
  doctype::Problems problems;
  NewType made;
  made.loaded = doctype_db::LoadType(text, name, &problems);
  if (made.loaded == nullptr) return Unexpected(doctype_db::ErrorOf(problems));
  const doctype::Type& type = made.loaded->type();
  if (type.name != name) {
    return Fail(Code::kInvalidArgument, "type.invalid",
                "the path names the type '{}', its definition '{}'", name, type.name);
  }
  ASSIGN_OR_RETURN(made.keyspace, db::KeyspaceName::Parse(type.keyspace));
  ASSIGN_OR_RETURN(const auto keyspace, context.database.catalog()->Resolve(made.keyspace));
  if (const auto* had = context.database.catalog()->FindType(name);
      had != nullptr && had->id != keyspace->id) {
    return Fail(Code::kConflict, "type.other_keyspace",
                "there is a document type '{}' of {}, which would lose it: remove it first, or "
                "choose another name",
                name, had->name.ToString());
  }
  doctype::TypeSet::Types all = {std::shared_ptr<const doctype::Type>(made.loaded, &type)};
  for (const db::TypeDefinition& other : keyspace->types) {
    if (other.name == name) continue;
    ASSIGN_OR_RETURN(const Value definition, json::Parse(other.text));
    const auto loaded = doctype_db::LoadType(definition, other.name, &problems);
    if (loaded != nullptr) all.push_back({loaded, &loaded->type()});
  }
  doctype::TypeSet::Check(all, &problems);
  if (!problems.ok()) return Unexpected(doctype_db::ErrorOf(problems));
  for (const Status& warning : problems.warnings) {
    made.warnings.Append(Value::Object({{"id", warning.id()}, {"message", warning.message()}}));
  }
  return made;
}

// How many documents of a sample are of the type: one that matches none is most often a mistake.
Result<Value> MatchesOf(const Context& context, const NewType& made) {
  constexpr uint64_t kLookedAt = 1000;
  ASSIGN_OR_RETURN(const auto keyspace, context.database.catalog()->Resolve(made.keyspace));
  const doctype::TypeSet only(
      {std::shared_ptr<const doctype::Type>(made.loaded, &made.loaded->type())});
  const auto snapshot = context.database.NewSnapshot();
  const auto documents =
      db::NewSampleCursor(context.database, keyspace->id, kLookedAt, *snapshot, kLookedAt);
  uint64_t looked_at = 0;
  uint64_t matching = 0;
  for (; documents->Next(); ++looked_at) {
    if (documents->document().datatype != db::Datatype::kJson) continue;
    if (only.Find(documents->key(), documents->document().body).type != nullptr) ++matching;
  }
  RETURN_IF_ERROR(documents->status());
  return Value::Object(
      {{"looked_at", Value::Unsigned(looked_at)}, {"matching", Value::Unsigned(matching)}});
}

// Documents that do not fit go to a keyspace beside the type's, which is made if need be.
Status MakeQuarantine(Context& context, const NewType& made) {
  if (made.loaded->type().validate != doctype::Validation::kQuarantine) return OkStatus();
  Status created =
      context.database.admin().CreateCollection(doctype_db::QuarantineOf(made.keyspace));
  return created.id() == "collection.exists" ? OkStatus() : created;
}

void PutType(Context& context, const Request& request, Response& response) {
  Result<NewType> made = NewTypeOf(context, request);
  if (!made) return response.Error(made.error());
  const Result<bool> dry_run = request.QueryBool("dry_run", false);
  if (!dry_run) return response.Error(dry_run.error());
  const doctype::Type& type = made->loaded->type();
  const bool known = context.database.catalog()->FindType(type.name) != nullptr;
  Status done;
  if (!*dry_run) {
    done = MakeQuarantine(context, *made);
    if (done.ok()) {
      done = context.database.admin().PutType(made->keyspace,
                                              {type.name, json::ToText(doctype::ToJson(type))});
    }
  }
  if (!done.ok()) return response.Error(done);
  Value answer = Value::Object({{"type", type.name}, {"keyspace", made->keyspace.ToString()}});
  Result<Value> matches = MatchesOf(context, *made);
  if (!matches) return response.Error(matches.error());
  answer.Set("documents", std::move(*matches));
  if (made->warnings.size() > 0) answer.Set("warnings", std::move(made->warnings));
  response.Json(known || *dry_run ? 200 : 201, AnswerText(answer));
}

void DropType(Context& context, const Request& request, Response& response) {
  const Status dropped = context.database.admin().DropType(std::string(request.Param("type")));
  if (!dropped.ok()) return response.Error(dropped);
  response.NoContent();
}

Status AddTypeChanges(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPut,
       .path = "/v1/types/{type}",
       .summary = "Set a document type",
       .tag = "types",
       .description = "Takes effect at once. If documents are then read in another form, answers "
                      "when the keyspace's indexes are built again.",
       .parameters = {{.name = "dry_run", .description = "check it only", .type = "boolean"}},
       .request = Content{.description = "the type as JSON, with its schemas and code"},
       .responses = {{200, "replaced", Content{}},
                     {201, "new", Content{}},
                     {400, "the type has errors"},
                     {409, "another type claims the same documents"}},
       .auth = std::string(kAdmin),
       .handler = Blocking(
           [&](Request& request, Response& response) { PutType(context, request, response); })}));
  return router.Add({.method = Method::kDelete,
                     .path = "/v1/types/{type}",
                     .summary = "Remove a document type",
                     .tag = "types",
                     .description = "Documents and their revisions stay unchanged.",
                     .responses = {{204, "removed"}, {404, "not found"}},
                     .auth = std::string(kAdmin),
                     .handler = Blocking([&](Request& request, Response& response) {
                       DropType(context, request, response);
                     })});
}

}  // namespace

Status AddTypeRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(AddTypeChanges(router, context));
  RETURN_IF_ERROR(
      router.Add({.method = Method::kGet,
                  .path = "/v1/types",
                  .summary = "List the document types",
                  .tag = "types",
                  .responses = {{200, "the types", Content{}}},
                  .auth = std::string(kAdmin),
                  .handler = [&](Request&, Response& response) { ListTypes(context, response); }}));
  return router.Add({.method = Method::kGet,
                     .path = "/v1/types/{type}",
                     .summary = "Show a document type",
                     .tag = "types",
                     .responses = {{200, "the type", Content{}}, {404, "not found"}},
                     .auth = std::string(kAdmin),
                     .handler = [&](Request& request, Response& response) {
                       ShowType(context, request, response);
                     }});
}

}  // namespace sluice::rest
