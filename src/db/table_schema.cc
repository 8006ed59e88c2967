#include "db/table_schema.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <strings.h>

namespace sluice::db {
namespace {

constexpr size_t kMaxKeyParts = 16;
constexpr size_t kMaxConstraints = 64;

constexpr std::array<std::string_view, 20> kTypeNames = {
    "short",      "u_short",      "int",       "u_int",      "longlong",
    "u_longlong", "float",        "double",    "cstring",    "vutf8",
    "byte",       "blob",         "datetime",  "datetimeus", "intervalym",
    "intervalds", "intervaldsus", "decimal32", "decimal64",  "decimal128"};

struct TypeAlias {
  std::string_view name;
  ColumnType type;
};
constexpr TypeAlias kTypeAliases[] = {
    {"smallint", ColumnType::kShort},     {"integer", ColumnType::kInt},
    {"bigint", ColumnType::kLongLong},    {"largeint", ColumnType::kLongLong},
    {"real", ColumnType::kDouble},        {"varchar", ColumnType::kCString},
    {"char", ColumnType::kCString},       {"text", ColumnType::kVutf8},
    {"decimal", ColumnType::kDecimal128},
};

constexpr std::string_view kActions[] = {"refuse", "cascade", "set null"};

Status Invalid(const TableSchema& schema, std::string_view what) {
  return Error(Code::kInvalidArgument, "table.invalid", "table '{}': {}", schema.name, what);
}

// Letters, digits and `_`: it is a path of the row.
Status CheckColumnName(const TableSchema& schema, std::string_view name) {
  RETURN_IF_ERROR(CheckName("column", name));
  if (name.find_first_of("-%") == std::string_view::npos) return OkStatus();
  return Invalid(schema,
                 fmt::format("a column's name has letters, digits and '_', got '{}'", name));
}

Status CheckColumns(const TableSchema& schema) {
  if (schema.columns.empty() || schema.columns.size() > kMaxTableColumns) {
    return Invalid(schema, fmt::format("expected 1 to {} columns, got {}", kMaxTableColumns,
                                       schema.columns.size()));
  }
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const TableColumn& column = schema.columns[i];
    RETURN_IF_ERROR(CheckColumnName(schema, column.name));
    if (*schema.ColumnIndex(column.name) != i) {
      return Invalid(schema, fmt::format("there are two columns '{}'", column.name));
    }
    const LengthRule rule = LengthRuleOf(column.type);
    const std::string_view type = ColumnTypeName(column.type);
    if (rule == LengthRule::kRequired && column.length == 0) {
      return Invalid(schema, fmt::format("column '{}' needs a length: {}(n)", column.name, type));
    }
    if (rule == LengthRule::kNone && column.length != 0) {
      return Invalid(schema, fmt::format("column '{}': a {} has no length", column.name, type));
    }
    if (column.length > kMaxColumnLength) {
      return Invalid(schema, fmt::format("column '{}': the most is {}({}), got {}", column.name,
                                         type, kMaxColumnLength, column.length));
    }
  }
  return OkStatus();
}

Status CheckKeys(const TableSchema& schema) {
  for (size_t i = 0; i < schema.keys.size(); ++i) {
    const TableKey& key = schema.keys[i];
    RETURN_IF_ERROR(CheckName("key", key.name));
    if (key.parts.empty() || key.parts.size() > kMaxKeyParts) {
      return Invalid(schema,
                     fmt::format("key '{}' must have 1 to {} columns", key.name, kMaxKeyParts));
    }
    for (const TableKeyPart& part : key.parts) {
      if (schema.FindColumn(part.column) == nullptr) {
        return Invalid(schema,
                       fmt::format("key '{}': there is no column '{}'", key.name, part.column));
      }
    }
    for (size_t k = 0; k < i; ++k) {
      if (schema.keys[k].name == key.name) {
        return Invalid(schema, fmt::format("there are two keys '{}'", key.name));
      }
      if (schema.keys[k].primary && key.primary) {
        return Invalid(schema, "there are two primary keys");
      }
    }
  }
  return OkStatus();
}

Status CheckReferences(const TableSchema& schema) {
  for (const TableReference& reference : schema.references) {
    if (reference.columns.empty() || reference.columns.size() != reference.their_columns.size()) {
      return Invalid(schema, fmt::format("foreign key '{}' names {} columns here and {} of '{}'",
                                         reference.name, reference.columns.size(),
                                         reference.their_columns.size(), reference.table));
    }
    for (const std::string& column : reference.columns) {
      if (schema.FindColumn(column) == nullptr) {
        return Invalid(schema, fmt::format("foreign key '{}': there is no column '{}'",
                                           reference.name, column));
      }
    }
  }
  return OkStatus();
}

std::string Text(const json::Value& value) {
  return value.is_string() ? std::string(value.AsString()) : std::string();
}
bool Flag(const json::Value& value) { return value.is_bool() && value.AsBool(); }

json::Value Names(const std::vector<std::string>& names) {
  json::Value array = json::Value::EmptyArray();
  for (const std::string& name : names) array.Append(name);
  return array;
}

std::vector<std::string> NamesFrom(const json::Value& array) {
  std::vector<std::string> names;
  for (const json::Value& name : array.items()) names.push_back(Text(name));
  return names;
}

json::Value ToJson(const TableColumn& column) {
  json::Value json =
      json::Value::Object({{"name", column.name}, {"type", ColumnTypeName(column.type)}});
  if (column.length != 0) json.Set("length", column.length);
  if (column.not_null) json.Set("not_null", true);
  if (!column.default_text.empty()) json.Set("default", column.default_text);
  if (column.added) json.Set("added", *column.added);
  return json;
}

json::Value ToJson(const TableKey& key) {
  json::Value parts = json::Value::EmptyArray();
  for (const TableKeyPart& part : key.parts) {
    parts.Append(json::Value::Object({{"column", part.column}, {"desc", part.descending}}));
  }
  json::Value json = json::Value::Object({{"name", key.name},
                                          {"parts", std::move(parts)},
                                          {"unique", key.unique},
                                          {"primary", key.primary}});
  if (key.many_nulls) json.Set("many_nulls", true);
  return json;
}

json::Value ToJson(const TableReference& reference) {
  return json::Value::Object({{"name", reference.name},
                              {"columns", Names(reference.columns)},
                              {"table", reference.table},
                              {"their_columns", Names(reference.their_columns)},
                              {"on_delete", kActions[static_cast<size_t>(reference.on_delete)]},
                              {"on_update", kActions[static_cast<size_t>(reference.on_update)]}});
}

std::optional<TableColumn> ColumnFrom(const json::Value& json) {
  const std::optional<ColumnType> type = ColumnTypeOf(Text(json["type"]));
  if (!type) return std::nullopt;
  TableColumn column{.name = Text(json["name"]), .type = *type};
  if (json["length"].is_int()) column.length = static_cast<uint32_t>(json["length"].AsInt());
  column.not_null = Flag(json["not_null"]);
  column.default_text = Text(json["default"]);
  if (!json["added"].is_missing()) column.added = json["added"];
  return column;
}

std::optional<ReferenceAction> ActionFrom(const json::Value& json) {
  const auto found = std::ranges::find(kActions, Text(json));
  if (found == std::end(kActions)) return std::nullopt;
  return static_cast<ReferenceAction>(found - std::begin(kActions));
}

TableKey KeyFrom(const json::Value& json) {
  TableKey key{.name = Text(json["name"]), .parts = {}};
  for (const json::Value& part : json["parts"].items()) {
    key.parts.push_back({.column = Text(part["column"]), .descending = Flag(part["desc"])});
  }
  key.unique = Flag(json["unique"]);
  key.primary = Flag(json["primary"]);
  key.many_nulls = Flag(json["many_nulls"]);
  return key;
}

std::optional<TableReference> ReferenceFrom(const json::Value& json) {
  const auto on_delete = ActionFrom(json["on_delete"]);
  const auto on_update = ActionFrom(json["on_update"]);
  if (!on_delete || !on_update) return std::nullopt;
  return TableReference{.name = Text(json["name"]),
                        .columns = NamesFrom(json["columns"]),
                        .table = Text(json["table"]),
                        .their_columns = NamesFrom(json["their_columns"]),
                        .on_delete = *on_delete,
                        .on_update = *on_update};
}

}  // namespace

KeyspaceName TableKeyspace(std::string_view table) {
  return {.bucket = std::string(kTablesBucket),
          .scope = std::string(kDefaultName),
          .collection = std::string(table)};
}

std::string_view ColumnTypeName(ColumnType type) { return kTypeNames[static_cast<size_t>(type)]; }

std::optional<ColumnType> ColumnTypeOf(std::string_view name) {
  for (size_t i = 0; i < kTypeNames.size(); ++i) {
    if (SameColumnName(kTypeNames[i], name)) return static_cast<ColumnType>(i);
  }
  for (const TypeAlias& alias : kTypeAliases) {
    if (SameColumnName(alias.name, name)) return alias.type;
  }
  return std::nullopt;
}

LengthRule LengthRuleOf(ColumnType type) {
  if (type == ColumnType::kCString || type == ColumnType::kByte) return LengthRule::kRequired;
  const bool sized = type == ColumnType::kVutf8 || type == ColumnType::kBlob;
  return sized ? LengthRule::kOptional : LengthRule::kNone;
}

bool SameColumnName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string TableColumn::TypeText() const {
  return length == 0 ? std::string(ColumnTypeName(type))
                     : fmt::format("{}({})", ColumnTypeName(type), length);
}

std::optional<size_t> TableSchema::ColumnIndex(std::string_view column) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (SameColumnName(columns[i].name, column)) return i;
  }
  return std::nullopt;
}

const TableColumn* TableSchema::FindColumn(std::string_view column) const {
  const auto index = ColumnIndex(column);
  return index ? &columns[*index] : nullptr;
}

bool TableSchema::HasUniqueKey(const std::vector<std::string>& columns) const {
  return std::ranges::any_of(keys, [&](const TableKey& key) {
    return key.unique && key.parts.size() == columns.size() &&
           std::ranges::all_of(columns, [&](const std::string& column) {
             return std::ranges::any_of(key.parts, [&](const TableKeyPart& part) {
               return SameColumnName(part.column, column);
             });
           });
  });
}

Status TableSchema::Check() const {
  RETURN_IF_ERROR(CheckColumns(*this));
  RETURN_IF_ERROR(CheckKeys(*this));
  RETURN_IF_ERROR(CheckReferences(*this));
  if (keys.size() + references.size() + checks.size() > kMaxConstraints) {
    return Invalid(*this,
                   fmt::format("there can be at most {} keys and constraints", kMaxConstraints));
  }
  return OkStatus();
}

json::Value ToJson(const TableSchema& schema) {
  json::Value columns = json::Value::EmptyArray();
  for (const TableColumn& column : schema.columns) columns.Append(ToJson(column));
  json::Value keys = json::Value::EmptyArray();
  for (const TableKey& key : schema.keys) keys.Append(ToJson(key));
  json::Value references = json::Value::EmptyArray();
  for (const TableReference& reference : schema.references) references.Append(ToJson(reference));
  json::Value checks = json::Value::EmptyArray();
  for (const TableCheck& check : schema.checks) {
    checks.Append(json::Value::Object({{"name", check.name}, {"condition", check.condition}}));
  }
  return json::Value::Object({{"columns", std::move(columns)},
                              {"keys", std::move(keys)},
                              {"references", std::move(references)},
                              {"checks", std::move(checks)}});
}

// The name is the keyspace's.
Result<TableSchema> TableSchemaFromJson(const json::Value& value) {
  const auto malformed = [] {
    return Fail(Code::kCorruption, "catalog.corrupt",
                "a stored table entry of the catalog is malformed");
  };
  TableSchema schema;
  for (const json::Value& json : value["columns"].items()) {
    std::optional<TableColumn> column = ColumnFrom(json);
    if (!column) return malformed();
    schema.columns.push_back(std::move(*column));
  }
  for (const json::Value& json : value["keys"].items()) schema.keys.push_back(KeyFrom(json));
  for (const json::Value& json : value["references"].items()) {
    std::optional<TableReference> reference = ReferenceFrom(json);
    if (!reference) return malformed();
    schema.references.push_back(std::move(*reference));
  }
  for (const json::Value& json : value["checks"].items()) {
    schema.checks.push_back({.name = Text(json["name"]), .condition = Text(json["condition"])});
  }
  if (!schema.Check().ok()) return malformed();
  return schema;
}

}  // namespace sluice::db
