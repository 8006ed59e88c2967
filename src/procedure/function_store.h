// The procedures that are functions of SQL: a table in memory, and a meta row for each of them
// (docs/formats/procedures.md). The table follows the rows, whoever writes them (db/row_watch.h).
//
// Concurrency: any thread may read. The caller makes sure that there is one change at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/locked.h"
#include "base/status.h"
#include "db/database.h"
#include "db/row_watch.h"
#include "lua/program.h"
#include "query/user_functions.h"

namespace sluice::procedure {

inline constexpr std::string_view kFunctionRows = "lua_functions/";

// Checks that a program defines what a call of the function needs: a Lua function with its name, or
// for an aggregate `step` and `final`. Error procedure.function.
Status CheckFunction(const query::UserFunction& function, const lua::Program& program);

class FunctionStore {
 public:
  explicit FunctionStore(db::Database& database);

  Status Load() { return watch_.Load(); }

  // Both wait until the change is durable. Names compare without case. Errors:
  // procedure.function_exists, procedure.function_not_found.
  Status Create(query::UserFunction function);
  Status Drop(const std::string& name, bool aggregate);

  std::shared_ptr<const query::UserFunctionTable> table() const { return table_.Copy(); }
  // The function of a procedure; null when there is none.
  std::shared_ptr<const query::UserFunction> Of(const std::string& procedure) const;

 private:
  Status Save(const std::string& name, const query::UserFunction* function);
  Status Refresh(const std::string& name, const std::optional<std::string>& row);

  db::Database& database_;
  Locked<std::shared_ptr<const query::UserFunctionTable>> table_;
  db::RowWatch watch_;
};

}  // namespace sluice::procedure
