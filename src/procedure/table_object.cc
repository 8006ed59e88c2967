#include "procedure/table_object.h"

#include <utility>

#include "base/back_quoted.h"
#include "procedure/arguments.h"

namespace sluice::procedure {
namespace {

using lua::Call;
using lua::HostObject;

TableObject& SelfTable(HostObject& object) { return static_cast<TableObject&>(object); }

// bucket.scope.collection: each part in quotes.
std::string QuotedPath(std::string_view path) {
  std::string quoted;
  while (true) {
    const size_t dot = path.find('.');
    quoted += BackQuoted(path.substr(0, dot));
    if (dot == std::string_view::npos) return quoted;
    quoted += '.';
    path.remove_prefix(dot + 1);
  }
}

// A condition of Comdb2's may begin with WHERE.
std::string WhereClause(std::string_view condition) {
  const size_t from = condition.find_first_not_of(" \t\n");
  if (from == std::string_view::npos) return "";
  condition.remove_prefix(from);
  constexpr std::string_view kWhere = "where ";
  bool has_where = condition.size() >= kWhere.size();
  for (size_t i = 0; has_where && i < kWhere.size(); ++i) {
    has_where = kWhere[i] == ' ' || (condition[i] | 0x20) == kWhere[i];
  }
  if (has_where) condition.remove_prefix(kWhere.size());
  return fmt::format(" WHERE ({})", condition);
}

// The condition that a method was given, if any.
Result<std::string> Condition(Call& call, size_t index, std::string_view method) {
  if (call.kind(index) == lua::Kind::kNil) return std::string();
  return StringArgument(call, index, method);
}

Result<Value> RowArgument(Call& call, std::string_view method) {
  ASSIGN_OR_RETURN(Value row, call.Get(0));
  if (!row.is_object()) return Unexpected(BadArgument(method, "a table with the names of columns"));
  return row;
}

Status RunInsert(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const Value row, RowArgument(call, "insert"));
  call.Return(Value(SelfTable(object).Insert(call, row)));
  return OkStatus();
}

Status RunUpdate(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const Value row, RowArgument(call, "update"));
  ASSIGN_OR_RETURN(const std::string condition, Condition(call, 1, "update"));
  call.Return(Value(SelfTable(object).Update(call, row, condition)));
  return OkStatus();
}

Status RunDelete(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const std::string condition, Condition(call, 0, "delete"));
  call.Return(Value(SelfTable(object).Delete(call, condition)));
  return OkStatus();
}

Status RunWhere(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const std::string condition, Condition(call, 0, "where"));
  ASSIGN_OR_RETURN(auto statement, SelfTable(object).Where(condition));
  call.Return(std::move(statement));
  return OkStatus();
}

Status RunCopyFrom(HostObject& object, Call& call) {
  const auto from = std::dynamic_pointer_cast<TableObject>(call.Object(0));
  if (from == nullptr) return BadArgument("copyfrom", "a dbtable");
  ASSIGN_OR_RETURN(const std::string condition, Condition(call, 1, "copyfrom"));
  call.Return(Value(SelfTable(object).CopyFrom(call, *from, condition)));
  return OkStatus();
}

Status RunTableEmit(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const auto statement, SelfTable(object).Where(""));
  RETURN_IF_ERROR(statement->Emit(call));
  call.Return(Value(kOk));
  return OkStatus();
}

Status RunName(HostObject& object, Call& call) {
  call.Return(Value(SelfTable(object).name()));
  return OkStatus();
}

}  // namespace

const lua::HostClass& TableObject::Class() {
  static const lua::HostClass type{.name = "dbtable",
                                   .methods = {{"insert", RunInsert},
                                               {"update", RunUpdate},
                                               {"delete", RunDelete},
                                               {"where", RunWhere},
                                               {"copyfrom", RunCopyFrom},
                                               {"emit", RunTableEmit},
                                               {"name", RunName}},
                                   .constants = {}};
  return type;
}

TableObject::TableObject(Session& session, std::string name,
                         std::shared_ptr<TemporaryTable> temporary)
    : HostObject(Class()),
      session_(session),
      name_(std::move(name)),
      quoted_(QuotedPath(name_)),
      temporary_(std::move(temporary)) {}

Status TableObject::OnlyGrows() {
  return Error(Code::kUnsupported, "procedure.unsupported",
               "rows of a temporary table are not changed and not deleted");
}

bool TableObject::IsBucket() const {
  return name_.find('.') != std::string::npos ||
         session_.engine.database().catalog()->buckets().contains(name_);
}

Result<std::shared_ptr<StatementObject>> TableObject::Where(std::string_view condition) const {
  // Another temporary table may have the name by now.
  const std::string from =
      temporary_ == nullptr ? quoted_ : fmt::format("system:{}", BackQuoted(temporary_->key()));
  return StatementObject::Prepare(
      session_, fmt::format("SELECT self_.* FROM {} AS self_{}", from, WhereClause(condition)));
}

int64_t TableObject::Run(Call& call, const std::string& text, std::vector<Value> values) {
  auto statement = StatementObject::Prepare(session_, text);
  if (!statement) return session_.Note(statement.error());
  for (size_t i = 0; i < values.size(); ++i) {
    (*statement)->BindPositional(i + 1, std::move(values[i]));
  }
  return session_.Note((*statement)->Execute(call));
}

// A document gets a key of its own.
int64_t TableObject::Insert(Call& call, const Value& row) {
  if (temporary_ != nullptr) return session_.Note(temporary_->Insert(row, session_.zone()));
  if (IsBucket()) {
    return Run(call, fmt::format("INSERT INTO {} (KEY, VALUE) VALUES (UUID(), $1)", quoted_),
               {row});
  }
  std::string names;
  std::string places;
  std::vector<Value> values;
  for (const json::Field& field : row.fields()) {
    values.push_back(field.value);
    names += (names.empty() ? "" : ", ") + BackQuoted(field.name());
    places += fmt::format("{}${}", places.empty() ? "" : ", ", values.size());
  }
  return Run(call, fmt::format("INSERT INTO {} ({}) VALUES ({})", quoted_, names, places),
             std::move(values));
}

int64_t TableObject::CopyFrom(Call& call, const TableObject& from, std::string_view condition) {
  auto rows = from.Where(condition);
  if (!rows) return session_.Note(rows.error());
  while (true) {
    const auto row = (*rows)->Fetch(call);
    if (!row) return session_.Note(row.error());
    if (row->is_missing()) return kOk;
    if (const int64_t code = Insert(call, *row); code != kOk) return code;
  }
}

int64_t TableObject::Update(Call& call, const Value& changes, std::string_view condition) {
  if (temporary_ != nullptr) return session_.Note(OnlyGrows());
  std::string set;
  std::vector<Value> values;
  for (const json::Field& field : changes.fields()) {
    values.push_back(field.value);
    set +=
        fmt::format("{}{} = ${}", set.empty() ? "" : ", ", BackQuoted(field.name()), values.size());
  }
  return Run(call, fmt::format("UPDATE {} SET {}{}", quoted_, set, WhereClause(condition)),
             std::move(values));
}

int64_t TableObject::Delete(Call& call, std::string_view condition) {
  if (temporary_ != nullptr) return session_.Note(OnlyGrows());
  return Run(call, fmt::format("DELETE FROM {}{}", quoted_, WhereClause(condition)), {});
}

}  // namespace sluice::procedure
