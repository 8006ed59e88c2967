// dbstmt: a statement that a procedure has prepared or run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lua/host.h"
#include "procedure/session.h"
#include "procedure/temporary_insert.h"

namespace sluice::procedure {

class StatementObject final : public lua::HostObject,
                              public std::enable_shared_from_this<StatementObject> {
 public:
  // Error of the query engine when the text can't be planned.
  static Result<std::shared_ptr<StatementObject>> Prepare(Session& session, std::string_view text);
  static const lua::HostClass& Class();
  size_t bytes() const override;

  StatementObject(Session& session, std::shared_ptr<const query::StatementPlan> plan);

  void BindPositional(size_t index, Value value);
  void BindNamed(std::string name, Value value);
  // Runs the statement. Reads all its rows at once if it writes, or if its transaction may end
  // before the procedure has fetched them.
  Status Execute(lua::Call& call);
  // The next row; MISSING at the end.
  Result<Value> Fetch(lua::Call& call);
  // Sends the remaining rows to the caller.
  Status Emit(lua::Call& call);
  void Close();

  uint64_t rows_changed() const { return rows_changed_; }
  // A row with the names of the columns, as far as the statement or its first row has them.
  Result<Value> FirstRow(lua::Call& call);
  // Null if the column is not one of a table.
  const query::ResultColumn* ColumnNamed(std::string_view name) const;

 private:
  Result<Value> Pull();
  Status ReadAll();
  void CountEffects();
  void NoteTypes();

  Session& session_;
  const std::shared_ptr<const query::StatementPlan> plan_;
  std::optional<TemporaryInsert> insert_;  // if set, the plan reads the rows to insert
  std::vector<Value> positional_;
  std::map<std::string, Value> named_;
  bool executed_ = false;
  std::unique_ptr<query::Run> run_;
  std::vector<Value> rows_;  // read ahead, from `next_` on
  size_t next_ = 0;
  uint64_t rows_changed_ = 0;
};

}  // namespace sluice::procedure
