#include "service/document_changes.h"

#include <set>
#include <string>
#include <utility>
#include <variant>

#include "db/traffic.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/path.h"
#include "json/print.h"

namespace sluice::service {
namespace {

using json::MutateSpec;

// Applies specs to a text and puts counters' values into `values` at their places.
Status MutateText(std::string_view text, const std::vector<MutateSpec>& specs,
                  const std::vector<size_t>& places, json::Value* values, std::string* out) {
  Result<json::MutateResult> result = json::Mutate(text, specs);
  if (!result) {
    const auto& fields = result.error().fields();
    const auto spec = fields.find("spec");
    if (spec == fields.end()) return result.error();
    return result.error().With("spec", std::to_string(places[std::stoul(spec->second)]));
  }
  for (size_t i = 0; i < result->values.size(); ++i) {
    if (result->values[i].empty()) continue;
    ASSIGN_OR_RETURN(*values->MutableItem(places[i]), json::Parse(result->values[i]));
  }
  *out = std::move(result->document);
  return OkStatus();
}

Status RequireJson(const db::DocumentView& document) {
  if (document.datatype == db::Datatype::kJson) return OkStatus();
  return Error(Code::kInvalidArgument, "document.not_json",
               "the document is binary: it has no paths");
}

Result<db::Mutated> ApplySpecs(const SubdocSpecs& specs, const db::DocumentView& present) {
  db::Mutated mutated;
  mutated.document.datatype = present.datatype;
  mutated.document.flags = present.flags;
  mutated.document.expiry_ms = present.expiry_ms;
  mutated.document.body = present.body;
  mutated.document.xattrs = present.xattrs;
  json::Value values = json::Value::EmptyArray();
  for (size_t i = specs.body.size() + specs.xattrs.size(); i > 0; --i) values.Append(nullptr);
  if (!specs.body.empty()) {
    RETURN_IF_ERROR(RequireJson(present));
    RETURN_IF_ERROR(
        MutateText(present.body, specs.body, specs.body_places, &values, &mutated.document.body));
  }
  if (!specs.xattrs.empty()) {
    RETURN_IF_ERROR(MutateText(present.xattrs.empty() ? "{}" : present.xattrs, specs.xattrs,
                               specs.xattr_places, &values, &mutated.document.xattrs));
    if (mutated.document.xattrs == "{}") mutated.document.xattrs.clear();
  }
  mutated.reply = json::ToText(values);
  return mutated;
}

Result<db::Mutated> ApplyMergePatch(const json::Value& patch, const db::DocumentView& present) {
  RETURN_IF_ERROR(RequireJson(present));
  ASSIGN_OR_RETURN(json::Value document, json::Parse(present.body));
  db::Mutated mutated;
  mutated.document = present.Copy();
  mutated.document.body = json::ToText(json::MergePatch(std::move(document), patch));
  RETURN_IF_ERROR(json::Validate(mutated.document.body));
  return mutated;
}

// For advice: which parts of documents are changed alone.
void Observe(const db::Database& database, db::KeyspaceId keyspace,
             const db::FieldChanges& changes) {
  db::Traffic& traffic = database.operations().traffic();
  if (traffic.SampleNow()) traffic.Updated(keyspace, changes);
}

bool MakesLonger(const MutateSpec& spec, const json::Path& path) {
  using Op = MutateSpec::Op;
  const bool appends =
      spec.op == Op::kArrayAppend || spec.op == Op::kArrayPrepend || spec.op == Op::kArrayAddUnique;
  const size_t steps = path.steps().size();
  return (appends && steps == 1) || (spec.op == Op::kArrayInsert && steps == 2);
}

db::FieldChanges FieldsOf(const SubdocSpecs& specs) {
  db::FieldChanges changes;
  for (const MutateSpec& spec : specs.body) {
    const auto path = json::Path::Parse(spec.path);
    if (!path || path->empty()) continue;
    const auto* const name = std::get_if<std::string>(&path->steps().front());
    if (name == nullptr) continue;
    changes.changed.insert(*name);
    if (MakesLonger(spec, *path)) changes.longer.insert(*name);
  }
  return changes;
}

db::FieldChanges FieldsOf(const json::Value& patch) {
  db::FieldChanges changes;
  for (const json::Field& field : patch.fields()) changes.changed.emplace(field.name());
  return changes;
}

}  // namespace

Transformation SubdocChange(const db::Database& database, db::KeyspaceId keyspace,
                            SubdocSpecs specs) {
  Observe(database, keyspace, FieldsOf(specs));
  return [specs = std::move(specs)](const db::DocumentView& present) {
    return ApplySpecs(specs, present);
  };
}

Transformation MergePatchChange(const db::Database& database, db::KeyspaceId keyspace,
                                json::Value patch) {
  Observe(database, keyspace, FieldsOf(patch));
  return [patch = std::move(patch)](const db::DocumentView& present) {
    return ApplyMergePatch(patch, present);
  };
}

Transformation WithExpiry(Transformation change, uint64_t expiry_ms) {
  return [change = std::move(change), expiry_ms](const db::DocumentView& present) {
    Result<db::Mutated> mutated = change(present);
    if (mutated) mutated->document.expiry_ms = expiry_ms;
    return mutated;
  };
}

}  // namespace sluice::service
