#include "procedure/temporary_insert.h"

#include <utility>

#include "query/parse/parser.h"

namespace sluice::procedure {
namespace {

std::shared_ptr<TemporaryTable> TargetOf(const Session& session, const query::FromTerm& target) {
  const auto& keyspace = target.keyspace;
  if (!keyspace || keyspace->parts.size() != 1 || !keyspace->name_space.empty()) return nullptr;
  return session.FindTemporary(keyspace->parts[0]);
}

// (1, 'a'), (2, 'b') as SELECT RAW row FROM [[1, 'a'], [2, 'b']] AS row.
std::string RowsOf(const std::vector<query::InsertValues>& rows) {
  std::string text = "SELECT RAW row_ FROM [";
  for (const query::InsertValues& row : rows) {
    std::string values;
    const auto add = [&](const query::ExpressionPtr& value) {
      if (value != nullptr) values += (values.empty() ? "" : ", ") + query::ToText(*value);
    };
    for (const query::ExpressionPtr& value : row.columns) add(value);
    if (row.columns.empty()) {
      add(row.key);
      add(row.value);
      add(row.options);
    }
    text += (text.back() == '[' ? "[" : ", [") + values + "]";
  }
  return text + "] AS row_";
}

Status OnlyGrows() {
  return Error(Code::kUnsupported, "procedure.unsupported",
               "rows of a temporary table are not changed and not deleted");
}

}  // namespace

Result<std::optional<TemporaryInsert>> TemporaryInsert::Of(const Session& session,
                                                           std::string_view text) {
  if (session.temporary.empty()) return std::nullopt;
  const auto parsed = query::ParseStatement(text, session.context.dialect);
  if (!parsed) return std::nullopt;  // the engine says what is wrong
  if (const auto* update = std::get_if<query::UpdateStatement>(&parsed->body)) {
    if (TargetOf(session, update->target) != nullptr) return Unexpected(OnlyGrows());
  }
  if (const auto* deletion = std::get_if<query::DeleteStatement>(&parsed->body)) {
    if (TargetOf(session, deletion->target) != nullptr) return Unexpected(OnlyGrows());
  }
  const auto* const insert = std::get_if<query::InsertStatement>(&parsed->body);
  if (insert == nullptr) return std::nullopt;
  TemporaryInsert made{.rows = "", .table = TargetOf(session, insert->target), .columns = {}};
  if (made.table == nullptr) return std::nullopt;
  if (insert->upsert || insert->conflict || insert->returning) return Unexpected(OnlyGrows());
  for (const query::ColumnName& column : insert->columns) made.columns.push_back(column.name);
  if (made.columns.empty()) {
    for (const db::TableColumn& column : made.table->schema()->columns) {
      made.columns.push_back(column.name);
    }
  }
  made.rows = insert->select != nullptr ? query::ToText(*insert->select) : RowsOf(insert->rows);
  return made;
}

Status TemporaryInsert::Insert(const Value& row, const lua::Zone& zone) const {
  if (row.size() != columns.size()) {
    return Error(Code::kInvalidArgument, "procedure.columns",
                 "insert: {} values for {} columns of '{}'", row.size(), columns.size(),
                 table->schema()->name);
  }
  Value made = Value::EmptyObject();
  for (size_t i = 0; i < columns.size(); ++i) {
    made.Set(columns[i], row.is_array() ? row[i] : row.fields()[i].value);
  }
  return table->Insert(made, zone);
}

}  // namespace sluice::procedure
