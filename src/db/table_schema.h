// The schema of a table: a keyspace whose documents are rows with typed columns. It is part of
// the keyspace's catalog entry (docs/formats/catalog.md); row.h converts values by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/types.h"
#include "json/value.h"

namespace sluice::db {

inline constexpr std::string_view kTablesBucket = "_tables";
inline constexpr size_t kMaxTableColumns = 1024;
inline constexpr uint32_t kMaxColumnLength = 1u << 24;

// The ids of tables have this bit, so that the id alone says that the keyspace is in shard 0.
inline constexpr KeyspaceId kTableIdBit = 1u << 31;
inline bool IsTableId(KeyspaceId id) { return (id & kTableIdBit) != 0; }

KeyspaceName TableKeyspace(std::string_view table);

enum class ColumnType : uint8_t {
  kShort,
  kUnsignedShort,
  kInt,
  kUnsignedInt,
  kLongLong,
  kUnsignedLongLong,
  kFloat,
  kDouble,
  kCString,
  kVutf8,
  kByte,
  kBlob,
  kDatetime,
  kDatetimeUs,
  kIntervalYm,
  kIntervalDs,
  kIntervalDsUs,
  kDecimal32,
  kDecimal64,
  kDecimal128,
};
// "short", "u_int", "cstring", ... : as comdb2_columns names them.
std::string_view ColumnTypeName(ColumnType type);
// Also by other names that SQL gives types ("integer", "bigint", "varchar", "text"), in any case.
std::optional<ColumnType> ColumnTypeOf(std::string_view name);
// Whether cstring(n) must, or vutf8(n) may, have a length.
enum class LengthRule : uint8_t { kNone, kOptional, kRequired };
LengthRule LengthRuleOf(ColumnType type);

struct TableColumn {
  std::string name;
  ColumnType type = ColumnType::kInt;
  uint32_t length = 0;  // bytes: the most of cstring, vutf8 and blob, exactly those of byte; 0: any
  bool not_null = false;
  std::string default_text = {};  // SQL++; empty for none
  // Of a column that was added later: its value in older rows, in the stored form.
  std::optional<json::Value> added = std::nullopt;

  // "cstring(10)"
  std::string TypeText() const;
  bool operator==(const TableColumn&) const = default;
};

struct TableKeyPart {
  std::string column;
  bool descending = false;
  bool operator==(const TableKeyPart&) const = default;
};

// Each is an index of the keyspace, by the same name.
struct TableKey {
  std::string name;
  std::vector<TableKeyPart> parts;
  bool unique = false;
  bool primary = false;
  bool many_nulls = false;  // of a unique one: rows with a NULL in it are no duplicates
  bool operator==(const TableKey&) const = default;
};

enum class ReferenceAction : uint8_t { kRefuse, kCascade, kSetNull };

struct TableReference {
  std::string name;
  std::vector<std::string> columns;
  std::string table;
  std::vector<std::string> their_columns;
  ReferenceAction on_delete = ReferenceAction::kRefuse;
  ReferenceAction on_update = ReferenceAction::kRefuse;
  bool operator==(const TableReference&) const = default;
};

struct TableCheck {
  std::string name;
  std::string condition;  // SQL++
  bool operator==(const TableCheck&) const = default;
};

struct TableSchema {
  std::string name;
  std::vector<TableColumn> columns;
  std::vector<TableKey> keys;
  std::vector<TableReference> references;
  std::vector<TableCheck> checks;

  // In any case of letters; null when there is none.
  const TableColumn* FindColumn(std::string_view name) const;
  std::optional<size_t> ColumnIndex(std::string_view name) const;
  // Whether there is a unique key of exactly these columns, in any order.
  bool HasUniqueKey(const std::vector<std::string>& columns) const;
  // Checks names and lengths, that keys name columns, and that no name comes twice.
  Status Check() const;
  bool operator==(const TableSchema&) const = default;
};

bool SameColumnName(std::string_view a, std::string_view b);

json::Value ToJson(const TableSchema& schema);
Result<TableSchema> TableSchemaFromJson(const json::Value& value);

}  // namespace sluice::db
