// dbtable: a table, or the documents of a collection, by name.
#pragma once

#include <memory>
#include <string>

#include "lua/host.h"
#include "procedure/statement_object.h"

namespace sluice::procedure {

class TableObject final : public lua::HostObject {
 public:
  TableObject(Session& session, std::string name);
  static const lua::HostClass& Class();

  const std::string& name() const { return name_; }
  // The rows that fulfil a condition of SQL; all, without one.
  Result<std::shared_ptr<StatementObject>> Where(std::string_view condition) const;
  // Each runs one statement and returns its number (session.h).
  int64_t Insert(lua::Call& call, const Value& row);
  int64_t CopyFrom(lua::Call& call, const TableObject& from, std::string_view condition);
  int64_t Update(lua::Call& call, const Value& changes, std::string_view condition);
  int64_t Delete(lua::Call& call, std::string_view condition);

 private:
  bool IsBucket() const;
  int64_t Run(lua::Call& call, const std::string& text, std::vector<Value> values);

  Session& session_;
  const std::string name_;
  const std::string quoted_;
};

}  // namespace sluice::procedure
