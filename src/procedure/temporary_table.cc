#include "procedure/temporary_table.h"

#include <algorithm>
#include <utility>

#include "procedure/arguments.h"
#include "procedure/emitter.h"
#include "query/value_size.h"

namespace sluice::procedure {

using json::Value;

Result<std::shared_ptr<TemporaryTable>> TemporaryTable::Make(const Value& columns) {
  const Status wrong = BadArgument("table", "columns as {{'name', 'type'}, ...}");
  if (!columns.is_array() || columns.size() == 0 || columns.size() > kMaxColumns) {
    return Unexpected(wrong);
  }
  auto table = std::make_shared<TemporaryTable>();
  for (const Value& column : columns.items()) {
    if (!column[0].is_string() || !column[1].is_string()) return Unexpected(wrong);
    const auto type = lua::DataTypeNamed(column[1].AsString());
    if (!type) {
      return Fail(Code::kInvalidArgument, "procedure.argument", "table: there is no type '{}'",
                  column[1].AsString());
    }
    std::string name(column[0].AsString());
    if (std::ranges::find(table->columns_, name, &Column::name) != table->columns_.end()) {
      return Fail(Code::kInvalidArgument, "procedure.argument", "table: two columns are named '{}'",
                  name);
    }
    table->columns_.push_back({.name = std::move(name), .type = *type});
  }
  return table;
}

Status TemporaryTable::Insert(const Value& row, const lua::Zone& zone) {
  for (const json::Field& field : row.fields()) {
    if (std::ranges::find(columns_, field.name(), &Column::name) == columns_.end()) {
      return Error(Code::kInvalidArgument, "procedure.columns", "insert: there is no column '{}'",
                   field.name());
    }
  }
  Value made = Value::EmptyObject();
  for (const Column& column : columns_) {
    const Value& value = row[column.name];
    ASSIGN_OR_RETURN(Value converted,
                     lua::Convert(value.is_missing() ? Value(nullptr) : value, column.type, zone));
    made.Set(column.name, std::move(converted));
  }
  const size_t bytes = query::ApproximateBytes(made);
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > kMaxBytes) {
    return Error(Code::kTooLarge, "procedure.too_many_rows",
                 "a temporary table has at most {} MiB of rows", kMaxBytes >> 20);
  }
  bytes_ += bytes;
  rows_.push_back(std::move(made));
  return OkStatus();
}

Value TemporaryTable::Rows() const {
  const std::lock_guard lock(mutex_);
  return Value::Array(rows_);
}

}  // namespace sluice::procedure
