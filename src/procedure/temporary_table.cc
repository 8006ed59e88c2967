#include "procedure/temporary_table.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "db/row.h"
#include "procedure/arguments.h"
#include "procedure/emitter.h"
#include "query/bind/binder.h"
#include "query/value_size.h"

namespace sluice::procedure {

using json::Value;

namespace {

std::string NewKey() {
  static std::atomic<uint64_t> next = 1;
  return std::string(query::kLocalTablePrefix) + std::to_string(next.fetch_add(1));
}

// The widest type of its kind, except for datetimes and intervals, which keep their precision.
db::ColumnType ColumnTypeFor(lua::DataType type, std::string_view name) {
  using lua::DataType;
  switch (type) {
    case DataType::kInt:
      return db::ColumnType::kLongLong;
    case DataType::kReal:
      return db::ColumnType::kDouble;
    case DataType::kCstring:
      return db::ColumnType::kVutf8;
    case DataType::kBlob:
      return db::ColumnType::kBlob;
    case DataType::kDatetime:
      return name == "datetimeus" ? db::ColumnType::kDatetimeUs : db::ColumnType::kDatetime;
    case DataType::kIntervalYm:
      return db::ColumnType::kIntervalYm;
    case DataType::kIntervalDs:
      return name == "intervaldsus" ? db::ColumnType::kIntervalDsUs : db::ColumnType::kIntervalDs;
    case DataType::kDecimal:
      return db::ColumnType::kDecimal128;
  }
  return db::ColumnType::kVutf8;
}

}  // namespace

Result<std::shared_ptr<TemporaryTable>> TemporaryTable::Make(std::string name,
                                                             const Value& columns) {
  const Status wrong = BadArgument("table", "columns as {{'name', 'type'}, ...}");
  if (!columns.is_array() || columns.size() == 0 || columns.size() > kMaxColumns) {
    return Unexpected(wrong);
  }
  auto table = std::make_shared<TemporaryTable>();
  db::TableSchema schema;
  schema.name = std::move(name);
  for (const Value& column : columns.items()) {
    if (!column[0].is_string() || !column[1].is_string()) return Unexpected(wrong);
    std::string type_name(column[1].AsString());
    std::ranges::transform(type_name, type_name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
    const auto type = lua::DataTypeNamed(type_name);
    if (!type) {
      return Fail(Code::kInvalidArgument, "procedure.argument", "table: there is no type '{}'",
                  column[1].AsString());
    }
    std::string column_name(column[0].AsString());
    if (schema.FindColumn(column_name) != nullptr) {
      return Fail(Code::kInvalidArgument, "procedure.argument", "table: two columns are named '{}'",
                  column_name);
    }
    schema.columns.push_back(
        {.name = std::move(column_name), .type = ColumnTypeFor(*type, type_name)});
    table->types_.push_back(*type);
  }
  table->key_ = NewKey();
  table->schema_ = std::make_shared<const db::TableSchema>(std::move(schema));
  return table;
}

Status TemporaryTable::Insert(const Value& row, const lua::Zone& zone) {
  for (const json::Field& field : row.fields()) {
    if (schema_->FindColumn(field.name()) == nullptr) {
      return Error(Code::kInvalidArgument, "procedure.columns", "insert: there is no column '{}'",
                   field.name());
    }
  }
  std::vector<Value> given(types_.size(), Value(nullptr));
  for (const json::Field& field : row.fields()) {
    given[*schema_->ColumnIndex(field.name())] = field.value;
  }
  Value made = Value::EmptyObject();
  for (size_t i = 0; i < types_.size(); ++i) {
    const db::TableColumn& column = schema_->columns[i];
    ASSIGN_OR_RETURN(Value value, lua::Convert(given[i], types_[i], zone));
    if (!value.is_null()) {
      ASSIGN_OR_RETURN(value, db::StoreColumn(*schema_, column, value));
    }
    made.Set(column.name, std::move(value));
  }
  const size_t bytes = query::ApproximateBytes(made);
  const auto content = content_.Lock();
  if (content->bytes + bytes > kMaxBytes) {
    return Error(Code::kTooLarge, "procedure.too_many_rows",
                 "a temporary table has at most {} MiB of rows", kMaxBytes >> 20);
  }
  content->bytes += bytes;
  content->rows.push_back(std::move(made));
  return OkStatus();
}

std::vector<Value> TemporaryTable::Rows() const { return content_.Lock()->rows; }

}  // namespace sluice::procedure
