// The rows of a temporary table: in memory, of one run and of its threads. Not transactional.
//
// Concurrency: any thread.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "lua/convert.h"

namespace sluice::procedure {

class TemporaryTable {
 public:
  static constexpr size_t kMaxBytes = 64 << 20;

  // From {{'a', 'int'}, {'b', 'cstring'}}. Error procedure.argument.
  static Result<std::shared_ptr<TemporaryTable>> Make(const json::Value& columns);

  // Columns that the row lacks are NULL; values are converted. Errors: procedure.columns,
  // lua.conversion, procedure.too_many_rows.
  Status Insert(const json::Value& row, const lua::Zone& zone);
  // All rows, as objects.
  json::Value Rows() const;

 private:
  struct Column {
    std::string name;
    lua::DataType type = lua::DataType::kInt;
  };

  std::vector<Column> columns_;
  mutable std::mutex mutex_;
  std::vector<json::Value> rows_;  // under mutex_
  size_t bytes_ = 0;               // under mutex_
};

}  // namespace sluice::procedure
