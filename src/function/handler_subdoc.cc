// The natives of library/subdoc.js: parts of documents.
#include "function/handler.h"
#include "function/place.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/subdoc.h"

namespace sluice::function {
namespace {

using json::MutateSpec;
using Op = MutateSpec::Op;

constexpr std::pair<std::string_view, Op> kSubdocOperations[] = {
    {"insert", Op::kInsert},           {"upsert", Op::kUpsert},
    {"replace", Op::kReplace},         {"remove", Op::kRemove},
    {"arrayAppend", Op::kArrayAppend}, {"arrayPrepend", Op::kArrayPrepend},
    {"arrayInsert", Op::kArrayInsert}, {"arrayAddUnique", Op::kArrayAddUnique},
};

// Whether the handler gets the error of a path as a result, not as an exception.
bool IsSoftPath(const Status& status) {
  return status.id() == "subdoc.path_not_found" || status.id() == "subdoc.path_exists";
}

Status RequireJson(const db::DocumentView& document) {
  if (document.datatype == db::Datatype::kJson) return OkStatus();
  return Error(Code::kInvalidArgument, "document.not_json",
               "the document is binary: it has no paths");
}

// {op, path, value as JSON text, create_path, xattrs}, as the library makes them.
MutateSpec SpecOf(const json::Value& value) {
  MutateSpec spec;
  for (const auto& [name, op] : kSubdocOperations) {
    if (value["op"].AsString() == name) spec.op = op;
  }
  spec.path = value["path"].AsString();
  if (value["value"].is_string()) spec.value = value["value"].AsString();
  spec.create_path = value["create_path"].is_bool() && value["create_path"].AsBool();
  return spec;
}

bool IsXattr(const json::Value& spec) {
  return spec["xattrs"].is_bool() && spec["xattrs"].AsBool();
}

Status CheckCount(const json::Value& specs) {
  if (specs.size() <= json::kMaxSubdocSpecs) return OkStatus();
  return Error(Code::kInvalidArgument, "subdoc.too_many_specs", "at most {} specs, got {}",
               json::kMaxSubdocSpecs, specs.size());
}

Status Apply(const json::Value& specs, db::Document* document) {
  RETURN_IF_ERROR(CheckCount(specs));
  std::vector<MutateSpec> body;
  std::vector<MutateSpec> xattrs;
  for (const json::Value& spec : specs.items()) {
    (IsXattr(spec) ? xattrs : body).push_back(SpecOf(spec));
  }
  if (!body.empty()) {
    ASSIGN_OR_RETURN(json::MutateResult result, json::Mutate(document->body, body));
    document->body = std::move(result.document);
  }
  if (!xattrs.empty()) {
    const std::string present = document->xattrs.empty() ? "{}" : document->xattrs;
    ASSIGN_OR_RETURN(json::MutateResult result, json::Mutate(present, xattrs));
    document->xattrs = result.document == "{}" ? "" : std::move(result.document);
  }
  return OkStatus();
}

// [{value, success}...] of all specs.
Result<json::Value> LookupAll(const json::Value& specs, const db::DocumentView& document) {
  RETURN_IF_ERROR(CheckCount(specs));
  const std::string_view xattrs = document.xattrs.empty() ? "{}" : document.xattrs;
  json::Value results = json::Value::EmptyArray();
  for (const json::Value& spec : specs.items()) {
    if (!IsXattr(spec)) RETURN_IF_ERROR(RequireJson(document));
    const json::LookupSpec lookup{.path = std::string(spec["path"].AsString())};
    ASSIGN_OR_RETURN(const auto found,
                     json::Lookup(IsXattr(spec) ? xattrs : document.body, {&lookup, 1}));
    json::Value result = json::Value::Object({{"success", found[0].status.ok()}});
    if (found[0].status.ok()) {
      ASSIGN_OR_RETURN(json::Value value, json::Parse(found[0].value));
      result.Set("value", std::move(value));
    }
    results.Append(std::move(result));
  }
  return results;
}

}  // namespace

std::vector<script::Native> Handler::SubdocNatives() {
  return {{"mutateIn", [this](script::Call& call) { MutateIn(call); }},
          {"lookupIn", [this](script::Call& call) { LookupIn(call); }}};
}

// place, specs as JSON text, cas, expiry in seconds or -1 to keep it, self recursion.
void Handler::MutateIn(script::Call& call) {
  const auto keyspace = KeyspaceOf(call, static_cast<size_t>(call.Number(kBinding)), kNames);
  if (!keyspace || !MayWrite(call, *keyspace, kKey)) return;
  const std::string key = call.String(kKey);
  const Result<json::Value> specs = json::Parse(call.String(kAfterPlace));
  if (!specs) return ThrowKv(call, specs.error());
  const std::string cas = call.String(kAfterPlace + 1);
  const std::optional<db::Cas> expected = cas.empty() ? db::Cas{0} : CasOf(cas);
  if (!expected) return call.Throw("TypeError", "cas should be the string that a read returned");
  db::PinnedDocument present;
  const Result<bool> found = transaction_->Get(*keyspace, key, &present);
  if (!found) return ThrowKv(call, found.error());
  if (*found && *expected != 0 && *expected != present->cas) {
    ++statistics_->cas_mismatches;
    return ReturnStamp(call, Error(Code::kConflict, "document.cas_mismatch", "another CAS"), 0);
  }
  db::Document document;
  if (*found) {
    const Status json = RequireJson(present.view());
    if (!json.ok()) return ThrowKv(call, json);
    document = present->Copy();
    const Status applied = Apply(*specs, &document);
    if (IsSoftPath(applied)) return ReturnStamp(call, applied, 0);
    if (!applied.ok()) return ThrowKv(call, applied);
  }
  const double expiry_s = call.Number(kAfterPlace + 2);
  if (expiry_s >= 0) document.expiry_ms = static_cast<uint64_t>(expiry_s) * 1000;
  db::TransactionWriteOptions options;
  options.anonymous = call.Boolean(kAfterPlace + 3);
  const uint64_t expiry_ms = document.expiry_ms;
  const Result<db::Cas> stored =
      transaction_->Replace(*keyspace, key, std::move(document), options);
  if (!stored && !IsSoft(stored.error())) return ThrowKv(call, stored.error());
  if (!stored && IsMismatch(stored.error())) ++statistics_->cas_mismatches;
  if (!stored) return ReturnStamp(call, stored.error(), 0);
  const std::string stamp = std::to_string(*stored);
  call.ReturnList(
      {std::string_view(""), std::string_view(stamp), static_cast<double>(expiry_ms / 1000)});
}

// place, specs as JSON text. [results, cas, expiry in seconds], or undefined.
void Handler::LookupIn(script::Call& call) {
  const auto keyspace = KeyspaceOf(call, static_cast<size_t>(call.Number(kBinding)), kNames);
  if (!keyspace) return;
  const Result<json::Value> specs = json::Parse(call.String(kAfterPlace));
  if (!specs) return ThrowKv(call, specs.error());
  db::PinnedDocument document;
  const Result<bool> found = transaction_->Get(*keyspace, call.String(kKey), &document);
  if (!found) return ThrowKv(call, found.error());
  if (!*found) return;
  const Result<json::Value> results = LookupAll(*specs, document.view());
  if (!results) return ThrowKv(call, results.error());
  const std::string text = json::ToText(*results);
  const std::string cas = std::to_string(document->cas);
  call.ReturnList(
      {script::Json{text}, std::string_view(cas), static_cast<double>(document->expiry_ms / 1000)});
}

}  // namespace sluice::function
