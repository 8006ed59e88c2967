// dbtable: a table, or the documents of a collection, by name; or a temporary table.
#pragma once

#include <memory>
#include <string>

#include "lua/host.h"
#include "procedure/statement_object.h"
#include "procedure/temporary_table.h"

namespace sluice::procedure {

class TableObject final : public lua::HostObject {
 public:
  // `temporary` is null for a table of the database.
  TableObject(Session& session, std::string name,
              std::shared_ptr<TemporaryTable> temporary = nullptr);
  static const lua::HostClass& Class();

  const std::string& name() const { return name_; }
  // The same table for another session. Statements of that session find it by its name.
  std::shared_ptr<TableObject> For(Session& session) const {
    if (temporary_ != nullptr) session.AddTemporary(temporary_);
    return std::make_shared<TableObject>(session, name_, temporary_);
  }
  // The rows for which a condition in SQL holds; all rows if it is empty.
  Result<std::shared_ptr<StatementObject>> Where(std::string_view condition) const;
  // Each runs one statement and returns its result code (session.h).
  int64_t Insert(lua::Call& call, const Value& row);
  int64_t CopyFrom(lua::Call& call, const TableObject& from, std::string_view condition);
  int64_t Update(lua::Call& call, const Value& changes, std::string_view condition);
  int64_t Delete(lua::Call& call, std::string_view condition);

 private:
  bool IsBucket() const;
  static Status OnlyGrows();
  int64_t Run(lua::Call& call, const std::string& text, std::vector<Value> values);

  Session& session_;
  const std::string name_;
  const std::string quoted_;
  const std::shared_ptr<TemporaryTable> temporary_;
};

}  // namespace sluice::procedure
