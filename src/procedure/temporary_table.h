// The rows of a temporary table: in memory, of one run and of its threads. Not transactional.
//
// Concurrency: any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/table_schema.h"
#include "json/value.h"
#include "lua/convert.h"

namespace sluice::procedure {

class TemporaryTable {
 public:
  static constexpr size_t kMaxBytes = 64 << 20;

  // From {{'a', 'int'}, {'b', 'cstring'}}. Error procedure.argument.
  static Result<std::shared_ptr<TemporaryTable>> Make(std::string name, const json::Value& columns);

  // By which the query engine asks for its rows; of no other table.
  const std::string& key() const { return key_; }
  const std::shared_ptr<const db::TableSchema>& schema() const { return schema_; }

  // Columns that the row lacks are NULL; values are converted. Errors: procedure.columns,
  // lua.conversion, procedure.too_many_rows.
  Status Insert(const json::Value& row, const lua::Zone& zone);
  // All rows, as objects whose values are in the stored form of their columns.
  std::vector<json::Value> Rows() const;

 private:
  std::string key_;
  std::vector<lua::DataType> types_;  // of the columns
  std::shared_ptr<const db::TableSchema> schema_;
  mutable std::mutex mutex_;
  std::vector<json::Value> rows_;  // under mutex_
  size_t bytes_ = 0;               // under mutex_
};

}  // namespace sluice::procedure
