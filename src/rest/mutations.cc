// Changes to a part of a document: PATCH, touch and counter.
#include <array>
#include <utility>

#include "json/parse.h"
#include "json/print.h"
#include "json/subdoc.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/document_http.h"
#include "rest/expiry.h"
#include "rest/routes.h"
#include "service/document_changes.h"
#include "service/transform.h"

namespace sluice::rest {
namespace {

using json::MutateSpec;
using service::Transformation;

constexpr std::array<std::pair<std::string_view, MutateSpec::Op>, 9> kOperations = {{
    {"insert", MutateSpec::Op::kInsert},
    {"upsert", MutateSpec::Op::kUpsert},
    {"replace", MutateSpec::Op::kReplace},
    {"remove", MutateSpec::Op::kRemove},
    {"array_append", MutateSpec::Op::kArrayAppend},
    {"array_prepend", MutateSpec::Op::kArrayPrepend},
    {"array_insert", MutateSpec::Op::kArrayInsert},
    {"array_add_unique", MutateSpec::Op::kArrayAddUnique},
    {"counter", MutateSpec::Op::kCounter},
}};

Result<MutateSpec::Op> OperationOf(const json::Value& item) {
  ASSIGN_OR_RETURN(const std::string name, RequiredString(item, "op"));
  std::string known;
  for (const auto& [text, op] : kOperations) {
    if (text == name) return op;
    if (!known.empty()) known += ", ";
    known += text;
  }
  return BadField("op", "one of " + known, item["op"]);
}

Result<MutateSpec> SpecOf(const json::Value& item) {
  RETURN_IF_ERROR(
      CheckObject(item, "a spec", {"op", "path", "value", "delta", "create_path", "xattr"}));
  MutateSpec spec;
  ASSIGN_OR_RETURN(spec.op, OperationOf(item));
  ASSIGN_OR_RETURN(spec.path, RequiredString(item, "path"));
  ASSIGN_OR_RETURN(const auto create_path, BoolField(item, "create_path"));
  spec.create_path = create_path.value_or(false);
  const json::Value& value = item["value"];
  const json::Value& delta = item["delta"];
  const bool counter = spec.op == MutateSpec::Op::kCounter;
  const bool wants_value = !counter && spec.op != MutateSpec::Op::kRemove;
  if (value.is_missing() == wants_value) {
    return BadField("value", wants_value ? "a value" : "none with this op", value);
  }
  if (counter != delta.is_int()) {
    return BadField("delta", counter ? "an integer" : "none with this op", delta);
  }
  if (wants_value) spec.value = json::ToText(value);
  if (counter) spec.delta = delta.AsInt();
  return spec;
}

Result<service::SubdocSpecs> SpecsOf(const json::Value& body) {
  ASSIGN_OR_RETURN(const json::Value list, ListField(body, "specs"));
  if (list.size() == 0) {
    return BadField("specs", R"(a list such as [{"op":"upsert","path":"a","value":1}])", list);
  }
  service::SubdocSpecs specs;
  for (size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(MutateSpec spec, SpecOf(list[i]));
    ASSIGN_OR_RETURN(const auto xattr, BoolField(list[i], "xattr"));
    if (xattr.value_or(false) && (spec.path.empty() || spec.path.starts_with('_'))) {
      return BadField("path", "a name of an extended attribute that does not begin with _",
                      list[i]["path"]);
    }
    (xattr.value_or(false) ? specs.xattrs : specs.body).push_back(std::move(spec));
    (xattr.value_or(false) ? specs.xattr_places : specs.body_places).push_back(i);
  }
  return specs;
}

bool IsMergePatch(const Request& request) {
  const auto type = request.FindHeader("Content-Type");
  return type && EqualsIgnoreCase(type->substr(0, type->find(';')), "application/merge-patch+json");
}

// What a PATCH's body asks for, without its expiry.
Result<Transformation> PatchOf(const Context& context, const Request& request,
                               db::KeyspaceId keyspace) {
  if (IsMergePatch(request)) {
    ASSIGN_OR_RETURN(json::Value patch, json::Parse(request.body()));
    return service::MergePatchChange(context.database, keyspace, std::move(patch));
  }
  ASSIGN_OR_RETURN(const json::Value body, ReadObject(request.body(), {"specs"}));
  ASSIGN_OR_RETURN(service::SubdocSpecs specs, SpecsOf(body));
  return service::SubdocChange(context.database, keyspace, std::move(specs));
}

Result<Transformation> TransformationOf(const Context& context, const Request& request,
                                        db::KeyspaceId keyspace) {
  ASSIGN_OR_RETURN(Transformation patch, PatchOf(context, request, keyspace));
  if (!request.Query("expiry") && !request.FindHeader("X-Sluice-Expiry")) return patch;
  ASSIGN_OR_RETURN(const uint64_t expiry_ms, ExpiryOf(context, request));
  return service::WithExpiry(std::move(patch), expiry_ms);
}

// AnswerWrite's body with one member more.
void AnswerWithReply(Response& response, const db::CommitResult& result, std::string_view member) {
  const db::WriteResult& written = result.writes.front();
  if (!written.diverted_to.empty()) return AnswerWrite(response, result, Outcome::kDone);
  AddEntityTag(response, written.cas);
  std::string body = fmt::format(R"({{"cas":"{}","sequence":{},"{}":{})", written.cas,
                                 result.sequence, member, written.reply);
  AppendViolation(written, &body);
  response.Json(200, body + "}\n");
}

Task<> PatchDocument(Context& context, Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) co_return response.Error(target.error());
  Result<db::Precondition> condition = PreconditionOf(request);
  if (!condition) co_return response.Error(condition.error());
  if (condition->kind == db::Precondition::Kind::kAbsent) {
    co_return response.Error(Error(Code::kInvalidArgument, "http.bad_precondition",
                                   "If-None-Match: a patch takes If-Match only"));
  }
  Result<Transformation> transformation = TransformationOf(context, request, target->keyspace);
  if (!transformation) co_return response.Error(transformation.error());
  const db::CommitResult result = co_await service::Transform(
      context.database, CallerOf(request), *target, *condition,
      std::make_shared<const Transformation>(std::move(*transformation)));
  if (!result.status.ok()) {
    co_return AnswerFailedWrite(context, request, response, result.status, *target, *condition);
  }
  if (result.writes.front().reply.empty()) {
    co_return AnswerWrite(response, result, Outcome::kDone);
  }
  AnswerWithReply(response, result, "values");
}

Result<uint64_t> TouchExpiryOf(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const json::Value body, ReadObject(request.body(), {"expiry"}));
  ASSIGN_OR_RETURN(const auto expiry_ms, ExpiryField(body, context.clock.WallMs()));
  if (!expiry_ms) return BadField("expiry", "a duration, a time or 0", body["expiry"]);
  return *expiry_ms;
}

Task<> TouchDocument(Context& context, Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) co_return response.Error(target.error());
  const Result<uint64_t> expiry_ms = TouchExpiryOf(context, request);
  if (!expiry_ms) co_return response.Error(expiry_ms.error());
  db::Write write = db::TouchWrite(target->keyspace, std::string(target->key), *expiry_ms);
  const db::CommitResult result =
      co_await service::CommitAndWait(context.database, CallerOf(request), std::move(write));
  if (!result.status.ok()) co_return response.Error(result.status);
  AnswerWrite(response, result, Outcome::kDone);
}

Result<db::CounterOptions> CounterOptionsOf(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const json::Value body,
                   ReadObject(request.body(), {"delta", "initial", "expiry"}));
  db::CounterOptions options;
  ASSIGN_OR_RETURN(const auto delta, IntField(body, "delta"));
  ASSIGN_OR_RETURN(options.initial, IntField(body, "initial"));
  ASSIGN_OR_RETURN(const auto expiry_ms, ExpiryField(body, context.clock.WallMs()));
  options.delta = delta.value_or(1);
  options.expiry_ms = expiry_ms.value_or(0);
  return options;
}

Task<> CountDocument(Context& context, Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) co_return response.Error(target.error());
  const Result<db::CounterOptions> options = CounterOptionsOf(context, request);
  if (!options) co_return response.Error(options.error());
  db::Write write = db::CounterWrite(target->keyspace, std::string(target->key), *options);
  const db::CommitResult result =
      co_await service::CommitAndWait(context.database, CallerOf(request), std::move(write));
  if (!result.status.ok()) co_return response.Error(result.status);
  AnswerWithReply(response, result, "value");
}

Status AddPatch(Router& router, Context& context) {
  return router.Add(
      {.method = Method::kPatch,
       .path = "/v1/docs/{keyspace}/{key}",
       .summary = "Change parts of a document",
       .tag = "documents",
       .description =
           "With Content-Type application/merge-patch+json the body is a merge patch (RFC 7386), "
           "else a list of sub-document operations, applied all or none.",
       .parameters = {{.name = "expiry", .description = "a new expiry; default: the present one"},
                      {.name = "If-Match",
                       .in = Parameter::In::kHeader,
                       .description = "the ETag it must have"}},
       .request =
           Content{.description = "sub-document operations",
                   .schema = R"({"type":"object","required":["specs"],"properties":{"specs":)"
                             R"({"type":"array","items":{"type":"object",)"
                             R"("required":["op","path"],"properties":{"op":{"type":"string"},)"
                             R"("path":{"type":"string"},"value":{},"delta":{"type":"integer"},)"
                             R"("create_path":{"type":"boolean"},"xattr":{"type":"boolean"}}}}}})"},
       .responses = {{200, "changed; `values` has a counter's new value", WrittenContent()},
                     {404, "not found"},
                     {412, "it has another ETag"}},
       .auth = std::string(kWriteKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return PatchDocument(context, request, response);
       }});
}

}  // namespace

Status AddMutationRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(AddPatch(router, context));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPost,
       .path = "/v1/docs/{keyspace}/{key}/touch",
       .summary = "Set a document's expiry",
       .tag = "documents",
       .request = Content{.description = "a duration, a time or 0 for never",
                          .schema = R"({"type":"object","required":["expiry"],"properties":)"
                                    R"({"expiry":{"type":"string","example":"30s"}}})"},
       .responses = {{200, "set", WrittenContent()}, {404, "not found"}},
       .auth = std::string(kWriteKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return TouchDocument(context, request, response);
       }}));
  return router.Add(
      {.method = Method::kPost,
       .path = "/v1/docs/{keyspace}/{key}/counter",
       .summary = "Add to a counter",
       .tag = "documents",
       .description = "The document is an integer. Without `initial` it must exist.",
       .request = Content{.description = "delta (1 if not given) and the value of a new counter",
                          .schema = R"({"type":"object","properties":{"delta":)"
                                    R"({"type":"integer"},"initial":{"type":"integer"},)"
                                    R"("expiry":{"type":"string"}}})"},
       .responses = {{200, "the new value", Content{}},
                     {400, "the document is not an integer, or would get too large"},
                     {404, "not found"}},
       .auth = std::string(kWriteKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return CountDocument(context, request, response);
       }});
}

}  // namespace sluice::rest
