// Which procedures are functions of SQL: in memory, and a meta row for each
// (docs/formats/procedures.md).
//
// Concurrency: any thread; those that change something one at a time, which is the caller's
// business.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/database.h"
#include "lua/program.h"
#include "query/user_functions.h"

namespace sluice::procedure {

inline constexpr std::string_view kFunctionRows = "lua_functions/";

// Whether a program has what a function calls: one of the function's name, or step and final. Error
// procedure.function.
Status CheckFunction(const query::UserFunction& function, const lua::Program& program);

class FunctionStore {
 public:
  explicit FunctionStore(db::Database& database)
      : database_(database), table_(std::make_shared<const query::UserFunctionTable>()) {}

  Status Load();

  // Both wait until the change is durable. Names are the same in any case of letters. Errors:
  // procedure.function_exists, procedure.function_not_found.
  Status Create(query::UserFunction function);
  Status Drop(const std::string& name, bool aggregate);

  std::shared_ptr<const query::UserFunctionTable> table() const;
  // The function of a procedure; null when there is none.
  std::shared_ptr<const query::UserFunction> Of(const std::string& procedure) const;

 private:
  void Set(std::shared_ptr<const query::UserFunctionTable> table);
  Status Save(const std::string& name, const query::UserFunction* function);

  db::Database& database_;
  mutable std::mutex mutex_;
  std::shared_ptr<const query::UserFunctionTable> table_;  // under mutex_
};

}  // namespace sluice::procedure
