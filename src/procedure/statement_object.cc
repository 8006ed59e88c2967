#include "procedure/statement_object.h"

#include <algorithm>
#include <utility>

#include "procedure/arguments.h"
#include "query/value_size.h"

namespace sluice::procedure {
namespace {

// Of rows that are read at once.
constexpr size_t kMaxRowsRead = 1'000'000;

using lua::Call;
using lua::HostObject;

StatementObject& SelfStatement(HostObject& object) { return static_cast<StatementObject&>(object); }

Status RunBind(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const Value where, call.Get(0));
  ASSIGN_OR_RETURN(Value value, call.Get(1));
  if (value.is_missing()) value = Value(nullptr);
  if (const auto place = WholeNumber(where); place && *place >= 1 && *place <= 1000) {
    SelfStatement(object).BindPositional(static_cast<size_t>(*place), std::move(value));
  } else if (where.is_string()) {
    SelfStatement(object).BindNamed(std::string(where.AsString()), std::move(value));
  } else {
    return BadArgument("bind", "the number or the name of a parameter");
  }
  call.Return(Value(kOk));
  return OkStatus();
}

Status RunExec(HostObject& object, Call& call) {
  RETURN_IF_ERROR(SelfStatement(object).Execute(call));
  call.Return(Value(kOk));
  return OkStatus();
}

Status RunFetch(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(Value row, SelfStatement(object).Fetch(call));
  call.ReturnRow(std::move(row));
  return OkStatus();
}

// for row in stmt:rows(): the object itself is the iterator.
Status RunRows(HostObject& object, Call& call) {
  call.Return(SelfStatement(object).shared_from_this());
  return OkStatus();
}

Status RunStatementEmit(HostObject& object, Call& call) {
  RETURN_IF_ERROR(SelfStatement(object).Emit(call));
  call.Return(Value(kOk));
  return OkStatus();
}

Status RunClose(HostObject& object, Call& call) {
  SelfStatement(object).Close();
  call.Return(Value(kOk));
  return OkStatus();
}

Status RunRowsChanged(HostObject& object, Call& call) {
  call.Return(Value(static_cast<int64_t>(SelfStatement(object).rows_changed())));
  return OkStatus();
}

Status RunColumnCount(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const Value row, SelfStatement(object).FirstRow(call));
  call.Return(Value(static_cast<int64_t>(row.size())));
  return OkStatus();
}

// The field of the first row that the first argument counts to, from 1.
Result<json::Field> ColumnOf(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const Value row, SelfStatement(object).FirstRow(call));
  ASSIGN_OR_RETURN(const int64_t column, IntegerArgument(call, 0, "column"));
  if (column < 1 || column > static_cast<int64_t>(row.size())) {
    return Unexpected(BadArgument("column", "the number of a column, from 1"));
  }
  return row.fields()[static_cast<size_t>(column) - 1];
}

Status RunColumnName(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const json::Field field, ColumnOf(object, call));
  call.Return(field.key);
  return OkStatus();
}

Status RunColumnType(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const json::Field field, ColumnOf(object, call));
  const auto type = lua::DataTypeOf(field.value);
  call.Return(Value(type ? lua::NameOf(*type) : json::TypeName(field.value.type())));
  return OkStatus();
}

// What a column of a table is called there, whose it is, and its type as declared; nil of others.
template <std::string query::ResultColumn::*part>
Status RunColumnOrigin(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const json::Field field, ColumnOf(object, call));
  const query::ResultColumn* const column = SelfStatement(object).ColumnNamed(field.name());
  call.Return(column == nullptr ? Value() : Value(column->*part));
  return OkStatus();
}

bool IsReal(db::ColumnType type) {
  return type == db::ColumnType::kFloat || type == db::ColumnType::kDouble;
}

}  // namespace

const lua::HostClass& StatementObject::Class() {
  static const lua::HostClass type{
      .name = "dbstmt",
      .methods = {{"bind", RunBind},
                  {"exec", RunExec},
                  {"fetch", RunFetch},
                  {"__call", RunFetch},
                  {"rows", RunRows},
                  {"emit", RunStatementEmit},
                  {"close", RunClose},
                  {"rows_changed", RunRowsChanged},
                  {"column_count", RunColumnCount},
                  {"column_name", RunColumnName},
                  {"column_type", RunColumnType},
                  {"column_origin_name", RunColumnOrigin<&query::ResultColumn::column>},
                  {"column_table_name", RunColumnOrigin<&query::ResultColumn::table>},
                  {"column_decltype", RunColumnOrigin<&query::ResultColumn::type_text>}},
      .constants = {}};
  return type;
}

Result<std::shared_ptr<StatementObject>> StatementObject::Prepare(Session& session,
                                                                  std::string_view text) {
  ASSIGN_OR_RETURN(auto insert, TemporaryInsert::Of(session, text));
  ASSIGN_OR_RETURN(auto plan, session.Plan(insert ? std::string_view(insert->rows) : text));
  auto statement = std::make_shared<StatementObject>(session, std::move(plan));
  statement->insert_ = std::move(insert);
  return statement;
}

StatementObject::StatementObject(Session& session, std::shared_ptr<const query::StatementPlan> plan)
    : HostObject(Class()), session_(session), plan_(std::move(plan)) {}

const query::ResultColumn* StatementObject::ColumnNamed(std::string_view name) const {
  const auto found = std::ranges::find(plan_->columns, name, &query::ResultColumn::name);
  return found == plan_->columns.end() ? nullptr : &*found;
}

// An open run has a plan's operators and a place for their rows.
size_t StatementObject::bytes() const {
  constexpr size_t kOpenRun = 4096;
  size_t bytes = sizeof(*this) + (run_ == nullptr ? 0 : kOpenRun);
  for (const Value& row : rows_) bytes += query::ApproximateBytes(row);
  return bytes;
}

// Parameters with names have places, too: in the order in which they are first written.
void StatementObject::BindPositional(size_t index, Value value) {
  const query::ParameterList& known = plan_->parameters;
  if (known.positional == 0 && index <= known.named.size()) {
    named_[known.named[index - 1]] = std::move(value);
    return;
  }
  if (positional_.size() < index) positional_.resize(index, Value(nullptr));
  positional_[index - 1] = std::move(value);
}

void StatementObject::BindNamed(std::string name, Value value) {
  if (name.starts_with('@') || name.starts_with('$')) name.erase(0, 1);
  named_[std::move(name)] = std::move(value);
}

Status StatementObject::Execute(Call& call) {
  Close();
  query::RunRequest request = session_.Request(call);
  const bool in_transaction = request.transaction != nullptr;
  request.positional = positional_;
  request.named = named_;
  executed_ = true;
  ASSIGN_OR_RETURN(run_, session_.engine.Execute(plan_, std::move(request)));
  if (insert_) {
    RETURN_IF_ERROR(ReadAll());
    const std::vector<Value> rows = std::exchange(rows_, {});
    for (const Value& row : rows) RETURN_IF_ERROR(insert_->Insert(row, session_.zone()));
    rows_changed_ = rows.size();
    return OkStatus();
  }
  return plan_->kind == query::StatementKind::kSelect && !in_transaction ? OkStatus() : ReadAll();
}

Status StatementObject::ReadAll() {
  while (true) {
    ASSIGN_OR_RETURN(Value row, Pull());
    if (row.is_missing()) return OkStatus();
    if (rows_.size() >= kMaxRowsRead) {
      return Error(Code::kTooLarge, "procedure.too_many_rows",
                   "a statement in a transaction has at most {} rows", kMaxRowsRead);
    }
    rows_.push_back(std::move(row));
  }
}

// The next row of the run; at its end the run is let go.
Result<Value> StatementObject::Pull() {
  if (run_ == nullptr) return Value();
  if (run_->Next()) {
    if (plan_->kind == query::StatementKind::kSelect) ++session_.effects.selected;
    Value row = run_->row();
    if (!row.is_object()) return insert_ ? row : Value::Object({{"$0", row}});
    // A whole number in a column of doubles is stored as one.
    for (const query::ResultColumn& column : plan_->columns) {
      if (!IsReal(column.type) || !row[column.name].is_int()) continue;
      row.Set(column.name, Value(row[column.name].ToDouble()));
    }
    return row;
  }
  const std::unique_ptr<query::Run> ended = std::move(run_);
  rows_changed_ = ended->mutations();
  session_.mutations += rows_changed_;
  CountEffects();
  RETURN_IF_ERROR(ended->status());
  if (!ended->row_errors().empty()) return Unexpected(ended->row_errors().front());
  return Value();
}

void StatementObject::CountEffects() {
  const auto changed = static_cast<int64_t>(rows_changed_);
  using query::StatementKind;
  if (plan_->kind == StatementKind::kInsert) session_.effects.inserted += changed;
  if (plan_->kind == StatementKind::kDelete) session_.effects.deleted += changed;
  if (plan_->kind == StatementKind::kUpdate || plan_->kind == StatementKind::kUpsert ||
      plan_->kind == StatementKind::kMerge) {
    session_.effects.updated += changed;
  }
}

Result<Value> StatementObject::Fetch(Call& call) {
  if (!executed_) RETURN_IF_ERROR(Execute(call));
  if (next_ < rows_.size()) return std::move(rows_[next_++]);
  return Pull();
}

Status StatementObject::Emit(Call& call) {
  bool first = true;
  while (true) {
    ASSIGN_OR_RETURN(const Value row, Fetch(call));
    if (row.is_missing()) return OkStatus();
    ASSIGN_OR_RETURN(Value made, session_.emitter.Named(row, session_.zone()));
    if (std::exchange(first, false)) NoteTypes();
    RETURN_IF_ERROR(session_.emit(std::move(made)));
  }
}

// What the columns are shown as, where the procedure has not said it.
void StatementObject::NoteTypes() {
  if (plan_->columns.empty() || !session_.note_types) return;
  for (const query::ResultColumn& column : plan_->columns) {
    session_.emitter.SetShown(column.name, column.type);
  }
  session_.note_types(session_.emitter.Shown());
}

void StatementObject::Close() {
  run_.reset();
  rows_.clear();
  next_ = 0;
}

Result<Value> StatementObject::FirstRow(Call& call) {
  if (!executed_) RETURN_IF_ERROR(Execute(call));
  if (next_ == rows_.size()) {
    ASSIGN_OR_RETURN(Value row, Pull());
    if (row.is_missing()) return plan_->signature.is_object() ? plan_->signature : Value();
    rows_.push_back(std::move(row));
  }
  return rows_[next_];
}

}  // namespace sluice::procedure
