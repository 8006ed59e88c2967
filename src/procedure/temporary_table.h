// The rows of a temporary table. They are in memory, belong to one run and its threads, and take no
// part in transactions.
//
// Concurrency: any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/locked.h"
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

  // The query engine asks for the rows by this key, which no other table has.
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
  struct Content {
    std::vector<json::Value> rows;
    size_t bytes = 0;
  };
  Locked<Content> content_;
};

}  // namespace sluice::procedure
