#include "procedure/emitter.h"

#include <utility>

namespace sluice::procedure {

// Columns without a name are $0, $1 and so on.
void Emitter::Resize(size_t count) {
  while (columns_.size() < count) {
    columns_.push_back({.name = fmt::format("${}", columns_.size())});
  }
  columns_.resize(count);
}

Status Emitter::SetCount(int64_t count) {
  if (count < 1 || count > static_cast<int64_t>(kMaxColumns)) {
    return Error(Code::kInvalidArgument, "procedure.columns", "a row has 1 to {} columns, not {}",
                 kMaxColumns, count);
  }
  if (fixed_ && columns_.size() != static_cast<size_t>(count)) {
    return Error(Code::kInvalidArgument, "procedure.columns",
                 "the number of columns is set already: {}", columns_.size());
  }
  Resize(static_cast<size_t>(count));
  fixed_ = true;
  return OkStatus();
}

Status Emitter::CheckColumn(int64_t column) {
  const size_t most = fixed_ ? columns_.size() : kMaxColumns;
  if (column < 1 || column > static_cast<int64_t>(most)) {
    return Error(Code::kInvalidArgument, "procedure.columns", "there is no column {}", column);
  }
  if (!fixed_ && columns_.size() < static_cast<size_t>(column)) {
    Resize(static_cast<size_t>(column));
  }
  return OkStatus();
}

Status Emitter::SetName(int64_t column, std::string name) {
  RETURN_IF_ERROR(CheckColumn(column));
  columns_[static_cast<size_t>(column) - 1].name = std::move(name);
  return OkStatus();
}

Status Emitter::SetType(int64_t column, lua::DataType type, std::optional<db::ColumnType> shown) {
  RETURN_IF_ERROR(CheckColumn(column));
  columns_[static_cast<size_t>(column) - 1].type = type;
  columns_[static_cast<size_t>(column) - 1].shown = shown;
  return OkStatus();
}

Emitter::Types Emitter::Shown() const {
  Types types;
  for (const Column& column : columns_) {
    if (column.shown) types[column.name] = *column.shown;
  }
  return types;
}

void Emitter::SetShown(std::string_view name, db::ColumnType type) {
  for (Column& column : columns_) {
    if (column.name == name && !column.type && !column.shown) column.shown = type;
  }
}

Result<Value> Emitter::Positional(std::vector<Value> values, const lua::Zone& zone) {
  if (!fixed_) RETURN_IF_ERROR(SetCount(static_cast<int64_t>(values.size())));
  if (values.size() != columns_.size()) {
    return Fail(Code::kInvalidArgument, "procedure.columns",
                "bad number of emit columns:{} (need:{})", values.size(), columns_.size());
  }
  return Make(std::move(values), zone);
}

Result<Value> Emitter::Named(const Value& row, const lua::Zone& zone) {
  if (!fixed_ && columns_.empty()) {
    RETURN_IF_ERROR(SetCount(static_cast<int64_t>(row.size())));
    size_t at = 0;
    for (const json::Field& field : row.fields()) columns_[at++].name = field.name();
  }
  fixed_ = true;
  std::vector<Value> values;
  for (const Column& column : columns_) values.push_back(row[column.name]);
  return Make(std::move(values), zone);
}

Result<Value> Emitter::Make(std::vector<Value> values, const lua::Zone& zone) const {
  Value row = Value::EmptyObject();
  for (size_t i = 0; i < columns_.size(); ++i) {
    Value value = values[i].is_missing() ? Value(nullptr) : std::move(values[i]);
    if (columns_[i].type) {
      ASSIGN_OR_RETURN(value, lua::Convert(value, *columns_[i].type, zone));
    }
    row.Set(columns_[i].name, std::move(value));
  }
  return row;
}

}  // namespace sluice::procedure
