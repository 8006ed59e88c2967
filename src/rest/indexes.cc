// /v1/indexes/{keyspace}: secondary indexes, and reading one in order.
#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "db/catalog.h"
#include "db/index.h"
#include "json/key_encoding.h"
#include "json/parse.h"
#include "json/print.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/catalog_view.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

constexpr int64_t kDefaultScanLimit = 100;
constexpr int64_t kMaxScanLimit = 10'000;

Result<std::shared_ptr<const db::KeyspaceInfo>> KeyspaceInfoOf(const Context& context,
                                                               const Request& request) {
  ASSIGN_OR_RETURN(const db::KeyspaceName name, db::KeyspaceName::Parse(request.Param("keyspace")));
  return context.database.catalog()->Resolve(name);
}

Result<std::shared_ptr<const db::Index>> IndexOf(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const auto keyspace, KeyspaceInfoOf(context, request));
  const std::string_view name = request.Param("name");
  const auto found =
      std::find_if(keyspace->indexes.begin(), keyspace->indexes.end(),
                   [&](const auto& index) { return index->definition().name == name; });
  if (found != keyspace->indexes.end()) return *found;
  return Fail(Code::kNotFound, "index.not_found", "there is no index '{}' on {}", name,
              keyspace->name.ToString());
}

void ListIndexes(const Context& context, const Request& request, Response& response) {
  const auto keyspace = KeyspaceInfoOf(context, request);
  if (!keyspace) return response.Error(keyspace.error());
  json::Value list = json::Value::EmptyArray();
  for (const auto& index : (*keyspace)->indexes) list.Append(IndexView(*index));
  response.Json(200, AnswerText(json::Value::Object({{"indexes", std::move(list)}})));
}

void ShowIndex(const Context& context, const Request& request, Response& response, int status) {
  const auto index = IndexOf(context, request);
  if (!index) return response.Error(index.error());
  response.Json(status, AnswerText(IndexView(**index)));
}

Result<db::IndexDefinition> DefinitionOf(const Request& request) {
  db::IndexDefinition definition;
  definition.name = request.Param("name");
  ASSIGN_OR_RETURN(const json::Value body, ReadObject(request.body(), {"parts"}));
  ASSIGN_OR_RETURN(const json::Value parts, ListField(body, "parts"));
  for (const json::Value& item : parts.items()) {
    RETURN_IF_ERROR(CheckObject(item, "a part", {"path", "each", "desc"}));
    db::IndexPart part;
    ASSIGN_OR_RETURN(part.path, RequiredString(item, "path"));
    ASSIGN_OR_RETURN(const auto each, BoolField(item, "each"));
    ASSIGN_OR_RETURN(const auto desc, BoolField(item, "desc"));
    part.each_element = each.value_or(false);
    part.descending = desc.value_or(false);
    definition.parts.push_back(std::move(part));
  }
  if (definition.parts.empty()) {
    return BadField("parts", R"(a list such as [{"path":"a.b"}])", parts);
  }
  return definition;
}

// Idempotent: an index that is there with other parts is a conflict.
void PutIndex(Context& context, const Request& request, Response& response) {
  const Result<db::KeyspaceName> keyspace = db::KeyspaceName::Parse(request.Param("keyspace"));
  if (!keyspace) return response.Error(keyspace.error());
  const Result<db::IndexDefinition> definition = DefinitionOf(request);
  if (!definition) return response.Error(definition.error());
  const Status created = context.database.admin().CreateIndex(*keyspace, *definition);
  if (created.id() == "index.exists") {
    const auto present = IndexOf(context, request);
    if (!present || (*present)->definition() != *definition) {
      return response.Error(created);
    }
  } else if (!created.ok()) {
    return response.Error(created);
  }
  ShowIndex(context, request, response, created.ok() ? 201 : 200);
}

void DropIndex(Context& context, const Request& request, Response& response) {
  const Result<db::KeyspaceName> keyspace = db::KeyspaceName::Parse(request.Param("keyspace"));
  if (!keyspace) return response.Error(keyspace.error());
  const Status dropped =
      context.database.admin().DropIndex(*keyspace, std::string(request.Param("name")));
  if (!dropped.ok()) return response.Error(dropped);
  response.NoContent();
}

json::Direction DirectionOf(const db::IndexPart& part) {
  return part.descending ? json::Direction::kDescending : json::Direction::kAscending;
}

// A bound of a scan, ["a",1], as the beginning of an index row; empty when it is not given.
Result<std::string> BoundOf(const Request& request, std::string_view name, const db::Index& index) {
  const auto text = request.Query(name);
  if (!text) return std::string();
  const Result<json::Value> values = json::Parse(*text);
  const auto& parts = index.definition().parts;
  if (!values || !values->is_array() || values->size() == 0 || values->size() > parts.size()) {
    return Unexpected(Error(Code::kInvalidArgument, "http.bad_parameter",
                            "query parameter '{}': expected a JSON list of 1 to {} values, found "
                            "'{}'",
                            name, parts.size(), *text)
                          .With("parameter", std::string(name)));
  }
  std::string bound;
  for (size_t i = 0; i < values->size(); ++i) {
    RETURN_IF_ERROR(json::AppendKeyPart((*values)[i], DirectionOf(parts[i]), &bound));
  }
  return bound;
}

Result<json::Value> EntryView(const db::Index& index, std::string_view parts,
                              std::string_view key) {
  json::Value values = json::Value::EmptyArray();
  for (const db::IndexPart& part : index.definition().parts) {
    ASSIGN_OR_RETURN(json::Value value, json::TakeKeyPart(&parts, DirectionOf(part)));
    values.Append(std::move(value));
  }
  return json::Value::Object({{"key", key}, {"parts", std::move(values)}});
}

Result<json::Value> ScanIndex(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const auto index, IndexOf(context, request));
  RETURN_IF_ERROR(context.database.CheckIndex(*index, *context.database.NewSnapshot()));
  ASSIGN_OR_RETURN(const std::string from, BoundOf(request, "from", *index));
  ASSIGN_OR_RETURN(const std::string to, BoundOf(request, "to", *index));
  ASSIGN_OR_RETURN(const int64_t limit,
                   request.QueryInt("limit", kDefaultScanLimit, 1, kMaxScanLimit));
  json::Value entries = json::Value::EmptyArray();
  Status failed;
  // The last entry is included when it begins with the values of `to`.
  RETURN_IF_ERROR(context.database.ScanIndex(
      *index, from, to.empty() ? to : PrefixEnd(to), [&](auto parts, auto key) {
        Result<json::Value> entry = EntryView(*index, parts, key);
        if (!entry) {
          failed = entry.error();
          return false;
        }
        entries.Append(std::move(*entry));
        return entries.size() < static_cast<size_t>(limit);
      }));
  RETURN_IF_ERROR(failed);
  return json::Value::Object({{"entries", std::move(entries)}});
}

Status AddIndexChanges(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPut,
       .path = "/v1/indexes/{keyspace}/{name}",
       .summary = "Create an index",
       .tag = "indexes",
       .description = "Answers when the index is built; writers do not wait for it.",
       .request =
           Content{.description = "paths, `each` for one entry per array element",
                   .schema = R"({"type":"object","required":["parts"],"properties":{"parts":)"
                             R"({"type":"array","items":{"type":"object","properties":{)"
                             R"("path":{"type":"string"},"each":{"type":"boolean"},)"
                             R"("desc":{"type":"boolean"}}}}}})"},
       .responses = {{201, "created", Content{}},
                     {200, "it existed already", Content{}},
                     {409, "it exists with other parts"}},
       .auth = std::string(kAdmin),
       .handler = Blocking(
           [&](Request& request, Response& response) { PutIndex(context, request, response); })}));
  return router.Add({.method = Method::kDelete,
                     .path = "/v1/indexes/{keyspace}/{name}",
                     .summary = "Drop an index",
                     .tag = "indexes",
                     .responses = {{204, "dropped"}, {404, "not found"}},
                     .auth = std::string(kAdmin),
                     .handler = Blocking([&](Request& request, Response& response) {
                       DropIndex(context, request, response);
                     })});
}

}  // namespace

Status AddIndexRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(AddIndexChanges(router, context));
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/v1/indexes/{keyspace}",
                              .summary = "List the indexes of a keyspace",
                              .tag = "indexes",
                              .responses = {{200, "the indexes", Content{}}},
                              .auth = std::string(kReadKeyspace),
                              .handler = [&](Request& request, Response& response) {
                                ListIndexes(context, request, response);
                              }}));
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/v1/indexes/{keyspace}/{name}",
                              .summary = "Show an index",
                              .tag = "indexes",
                              .responses = {{200, "the index", Content{}}, {404, "not found"}},
                              .auth = std::string(kReadKeyspace),
                              .handler = [&](Request& request, Response& response) {
                                ShowIndex(context, request, response, 200);
                              }}));
  return router.Add(
      {.method = Method::kGet,
       .path = "/v1/indexes/{keyspace}/{name}/scan",
       .summary = "Read an index in order",
       .tag = "indexes",
       .parameters = {{.name = "from", .description = R"(first values wanted: ["a",1])"},
                      {.name = "to", .description = "last values wanted"},
                      {.name = "limit", .description = "at most 10000", .type = "integer"}},
       .responses = {{200, "entries: document keys and their values", Content{}},
                     {503, "it is still being built"}},
       .auth = std::string(kReadKeyspace),
       .handler = Blocking([&](Request& request, Response& response) {
         const Result<json::Value> entries = ScanIndex(context, request);
         if (!entries) return response.Error(entries.error());
         response.Json(200, AnswerText(*entries));
       })});
}

}  // namespace sluice::rest
