// db:emit, num_columns, column_name, column_type.
#include <utility>

#include "procedure/arguments.h"
#include "procedure/db_object.h"
#include "procedure/statement_object.h"
#include "procedure/table_object.h"

namespace sluice::procedure {

using lua::Call;
using lua::HostObject;

namespace {

Status RunDbEmit(HostObject& object, Call& call) {
  RETURN_IF_ERROR(EmitArguments(SessionOf(object), call));
  call.Return(Value(kOk));
  return OkStatus();
}

// The run fails with this text when it has ended; rows after it are not sent.
Status RunEmitError(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  ASSIGN_OR_RETURN(std::string text, StringArgument(call, 0, "emiterror"));
  if (!session.emitted_error.empty()) return OkStatus();
  session.emitted_error = text.empty() ? "error" : std::move(text);
  session.emit = [](const Value&) { return OkStatus(); };
  return OkStatus();
}

Status NoteTypes(const Session& session) {
  if (session.note_types) session.note_types(session.emitter.Shown());
  return OkStatus();
}

Status RunNumColumns(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const int64_t count, IntegerArgument(call, 0, "num_columns"));
  return SessionOf(object).emitter.SetCount(count);
}

Status RunColumnName(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(std::string name, StringArgument(call, 0, "column_name"));
  ASSIGN_OR_RETURN(const int64_t column, IntegerArgument(call, 1, "column_name"));
  RETURN_IF_ERROR(SessionOf(object).emitter.SetName(column, std::move(name)));
  return NoteTypes(SessionOf(object));
}

Status RunColumnType(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const std::string name, StringArgument(call, 0, "column_type"));
  ASSIGN_OR_RETURN(const int64_t column, IntegerArgument(call, 1, "column_type"));
  const auto type = lua::DataTypeNamed(name);
  if (!type) return BadArgument("column_type", "the name of a type, such as int");
  RETURN_IF_ERROR(SessionOf(object).emitter.SetType(column, *type, db::ColumnTypeOf(name)));
  return NoteTypes(SessionOf(object));
}

}  // namespace

Status EmitObject(Session& session, Call& call, HostObject& object) {
  if (auto* statement = dynamic_cast<StatementObject*>(&object)) return statement->Emit(call);
  if (auto* table = dynamic_cast<TableObject*>(&object)) {
    ASSIGN_OR_RETURN(const auto statement, table->Where(""));
    return statement->Emit(call);
  }
  (void)session;
  return BadArgument("emit", "values, a table of Lua, a dbtable or a dbstmt");
}

Status EmitArguments(Session& session, Call& call) {
  if (const auto object = call.Object(0)) return EmitObject(session, call, *object);
  std::vector<Value> values;
  for (size_t i = 0; i < call.size(); ++i) {
    ASSIGN_OR_RETURN(Value value, call.Get(i));
    values.push_back(std::move(value));
  }
  const bool table = values.size() == 1;
  if (table && values[0].is_object() && values[0].size() > 0) {
    ASSIGN_OR_RETURN(Value row, session.emitter.Named(values[0], session.zone()));
    return session.emit(std::move(row));
  }
  if (table && values[0].is_array()) {
    const Value array = std::move(values[0]);
    values.assign(array.items().begin(), array.items().end());
  }
  ASSIGN_OR_RETURN(Value row, session.emitter.Positional(std::move(values), session.zone()));
  return session.emit(std::move(row));
}

std::vector<lua::Method> EmitMethods() {
  return {{"emit", RunDbEmit},
          {"emiterror", RunEmitError},
          {"num_columns", RunNumColumns},
          {"column_name", RunColumnName},
          {"column_type", RunColumnType}};
}

}  // namespace sluice::procedure
