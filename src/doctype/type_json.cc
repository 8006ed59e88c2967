#include "doctype/type_json.h"

#include "base/quantity.h"
#include "doctype/migration_reader.h"

namespace sluice::doctype {
namespace {

using json::Value;

constexpr std::string_view kStampNames[kStamps] = {"type",       "schema",   "version",
                                                   "created",    "modified", "createdBy",
                                                   "modifiedBy", "accessed", "geo"};

Value PropertiesJson(const Properties& properties) {
  Value out = Value::EmptyObject();
  if (!properties.object.empty()) out.Set("object", properties.object);
  Value writable = Value::EmptyArray();
  for (size_t i = 0; i < kStamps; ++i) {
    if (properties.writable[i]) writable.Append(kStampNames[i]);
    if (properties.names[i].empty()) continue;
    Value name = properties.names[i];
    if (static_cast<Stamp>(i) == Stamp::kAccessed) {
      name = Value::Object(
          {{"name", name}, {"precision", FormatDurationMs(properties.accessed_precision_ms)}});
    }
    out.Set(kStampNames[i], name);
  }
  out.Set("precision", properties.seconds ? "s" : "ms");
  if (writable.size() > 0) out.Set("writable", writable);
  return out;
}

Value StepsJson(const std::vector<MigrationStep>& steps) {
  Value out = Value::EmptyArray();
  for (const MigrationStep& step : steps) {
    out.Append(Value::Object({{StepName(step.kind), step.arguments}}));
  }
  return out;
}

Value MigrationsJson(const std::vector<MigrationSource>& migrations) {
  Value out = Value::EmptyArray();
  for (const MigrationSource& source : migrations) {
    if (!source.file.empty()) {
      out.Append(Value::Object({{"file", source.file}, {"code", source.code}}));
      continue;
    }
    Value entry = Value::Object(
        {{"from", source.from}, {"to", source.to}, {"steps", StepsJson(source.steps)}});
    if (!source.back.empty()) entry.Set("back", StepsJson(source.back));
    out.Append(entry);
  }
  return out;
}

Value RevisionsJson(const Revisions& revisions) {
  Value out = Value::EmptyObject();
  if (revisions.keep > 0) out.Set("keep", static_cast<int64_t>(revisions.keep));
  if (revisions.max_age_ms > 0) out.Set("max_age", FormatDurationMs(revisions.max_age_ms));
  out.Set("key", revisions.key.text());
  out.Set("on_delete", revisions.on_delete == Revisions::OnDelete::kKeep ? "keep" : "purge");
  return out;
}

Value LimitsJson(const Limits& limits) {
  Value out = Value::EmptyObject();
  if (limits.bytes > 0) out.Set("bytes", FormatSizeBytes(limits.bytes));
  if (limits.depth > 0) out.Set("depth", static_cast<int64_t>(limits.depth));
  Value arrays = Value::EmptyObject();
  for (const ArrayLimit& limit : limits.arrays) {
    arrays.Set(limit.path.ToString(), static_cast<int64_t>(limit.most));
  }
  if (arrays.size() > 0) out.Set("array", arrays);
  return out;
}

}  // namespace

std::string_view StampName(Stamp stamp) { return kStampNames[static_cast<size_t>(stamp)]; }

std::optional<Stamp> StampOf(std::string_view name) {
  for (size_t i = 0; i < kStamps; ++i) {
    if (kStampNames[i] == name) return static_cast<Stamp>(i);
  }
  return std::nullopt;
}

std::string Properties::PathOf(Stamp stamp) const {
  return object.empty() ? name(stamp) : object + "." + name(stamp);
}

Value ToJson(const Type& type) {
  constexpr std::string_view kValidation[] = {"off", "warn", "enforce", "quarantine"};
  constexpr std::string_view kOnRead[] = {"off", "transient", "persist"};
  constexpr std::string_view kOnWrite[] = {"off", "upgrade"};
  Value match = Value::EmptyObject();
  if (type.key) match.Set("key", type.key->text());
  if (type.by_property) match.Set("property", type.properties.PathOf(Stamp::kType));
  Value out = Value::Object({{"type", type.name},
                             {"keyspace", type.keyspace},
                             {"match", match},
                             {"properties", PropertiesJson(type.properties)}});
  if (!type.schema.empty()) out.Set("schema", type.schema);
  if (!type.unversioned.empty()) out.Set("unversioned", type.unversioned);
  Value schemas = Value::EmptyObject();
  for (const SchemaSource& source : type.schemas) schemas.Set(source.version, source.schema);
  if (schemas.size() > 0) out.Set("schemas", schemas);
  if (type.validate != Validation::kOff) {
    out.Set("validate", kValidation[static_cast<size_t>(type.validate)]);
  }
  if (!type.migrations.empty()) out.Set("migrations", MigrationsJson(type.migrations));
  out.Set("migrate", Value::Object({{"read", kOnRead[static_cast<size_t>(type.on_read)]},
                                    {"write", kOnWrite[static_cast<size_t>(type.on_write)]}}));
  if (type.revisions) out.Set("revisions", RevisionsJson(*type.revisions));
  const Value limits = LimitsJson(type.limits);
  if (limits.size() > 0) out.Set("limits", limits);
  return out;
}

}  // namespace sluice::doctype
