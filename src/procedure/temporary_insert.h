// INSERT INTO a temporary table: a SELECT reads the rows, and they are put into memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "procedure/session.h"
#include "procedure/temporary_table.h"

namespace sluice::procedure {

struct TemporaryInsert {
  std::string rows;  // the SELECT: each row an object or an array, in the order of `columns`
  std::shared_ptr<TemporaryTable> table;
  std::vector<std::string> columns;

  // Empty for any other statement. Error procedure.unsupported for one that would change or
  // delete rows of a temporary table.
  static Result<std::optional<TemporaryInsert>> Of(const Session& session, std::string_view text);

  // Error procedure.columns when there are more or fewer values than columns.
  Status Insert(const Value& row, const lua::Zone& zone) const;
};

}  // namespace sluice::procedure
