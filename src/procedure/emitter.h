// The columns of the rows that a procedure emits. The first row sets their number and names, unless
// the procedure has set them before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/table_schema.h"
#include "json/value.h"
#include "lua/convert.h"

namespace sluice::procedure {

using json::Value;

inline constexpr size_t kMaxColumns = 1024;

class Emitter {
 public:
  // db:num_columns, db:column_name, db:column_type; columns count from 1. Error procedure.columns.
  Status SetCount(int64_t count);
  Status SetName(int64_t column, std::string name);
  Status SetType(int64_t column, lua::DataType type,
                 std::optional<db::ColumnType> shown = std::nullopt);

  // A row with one value for each column. Error procedure.columns: "bad number of emit columns".
  Result<Value> Positional(std::vector<Value> values, const lua::Zone& zone);
  // A row whose values have the names of columns; missing ones are null.
  Result<Value> Named(const Value& row, const lua::Zone& zone);

  // The types in which clients see columns, by name; only those that were set.
  using Types = std::map<std::string, db::ColumnType, std::less<>>;
  Types Shown() const;
  // Sets the type in which clients see a column, unless it was set before.
  void SetShown(std::string_view name, db::ColumnType type);

  struct Column {
    std::string name;
    std::optional<lua::DataType> type = std::nullopt;
    std::optional<db::ColumnType> shown = std::nullopt;
  };
  const std::vector<Column>& columns() const { return columns_; }

 private:
  Status CheckColumn(int64_t column);
  void Resize(size_t count);
  Result<Value> Make(std::vector<Value> values, const lua::Zone& zone) const;

  std::vector<Column> columns_;
  bool fixed_ = false;
};

}  // namespace sluice::procedure
