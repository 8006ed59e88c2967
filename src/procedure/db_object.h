// The global `db` of a procedure. Its methods are in several files: statements and transactions
// (db_statements.cc), rows that go to the caller (db_emit.cc), values and the rest (db_values.cc).
#pragma once

#include <memory>
#include <vector>

#include "lua/host.h"
#include "procedure/session.h"

namespace sluice::procedure {

class DbObject final : public lua::HostObject {
 public:
  explicit DbObject(Session& session) : HostObject(Class()), session_(session) {}
  static const lua::HostClass& Class();
  Session& session() { return session_; }

 private:
  Session& session_;
};

inline Session& SessionOf(lua::HostObject& object) {
  return static_cast<DbObject&>(object).session();
}

std::vector<lua::Method> StatementMethods();
std::vector<lua::Method> EmitMethods();
std::vector<lua::Method> ValueMethods();
std::vector<lua::Method> SettingMethods();
std::vector<lua::Method> EventMethods();
std::vector<lua::Method> ConsumerMethods();
std::vector<lua::Method> FlowMethods();

// Sends rows to the caller: of a table, a statement, or of plain values.
Status EmitArguments(Session& session, lua::Call& call);
Status EmitObject(Session& session, lua::Call& call, lua::HostObject& object);

}  // namespace sluice::procedure
