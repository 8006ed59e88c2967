#include "query/cdb2_text.h"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "db/datetime_text.h"
#include "query/parse/parser.h"
#include "query/result_text.h"

namespace sluice::query {
namespace {

// cdb2sql does not double quotes.
std::string Quoted(std::string_view text) { return fmt::format("'{}'", text); }

using db::ColumnType;

std::string IntervalText(json::Interval interval, std::optional<ColumnType> type) {
  constexpr size_t kMilliseconds = 4;  // ".000"
  std::string text = db::FormatInterval(interval);
  if (text.starts_with('-')) text.insert(1, " ");
  const size_t point = text.find('.');
  if (type == ColumnType::kIntervalDsUs && text.size() - point == kMilliseconds) text += "000";
  return "\"" + text + "\"";
}

std::string DatetimeText(json::Datetime moment, std::string_view zone,
                         std::optional<ColumnType> type) {
  const bool micro = type == ColumnType::kDatetimeUs || moment.us % 1000 != 0;
  return "\"" + db::FormatDatetime(moment, zone, micro ? 6 : 3) + "\"";
}

std::string Cdb2Value(const json::Value& value, std::string_view zone,
                      std::optional<ColumnType> type = std::nullopt) {
  switch (value.type()) {
    case json::Type::kMissing:
    case json::Type::kNull:
      return "NULL";
    case json::Type::kBool:
      return value.AsBool() ? "1" : "0";
    case json::Type::kInt:
      if (type == ColumnType::kFloat || type == ColumnType::kDouble) {
        return fmt::format("{:f}", value.ToDouble());
      }
      return std::to_string(value.AsInt());
    case json::Type::kDouble: {
      // A whole number beyond int64 came as digits.
      const std::string_view literal = value.literal();
      const bool digits =
          !literal.empty() && literal.find_first_of(".eE") == std::string_view::npos;
      return digits ? std::string(literal) : fmt::format("{:f}", value.AsDouble());
    }
    case json::Type::kDecimal:
      return Quoted(value.AsDecimal().ToString());
    case json::Type::kDatetime:
      return DatetimeText(value.AsDatetime(), zone, type);
    case json::Type::kInterval:
      return IntervalText(value.AsInterval(), type);
    case json::Type::kString:
      return Quoted(value.AsString());
    case json::Type::kBytes:
      return "x'" + ToHex(value.AsBytes()) + "'";
    case json::Type::kArray:
    case json::Type::kObject:
      return Quoted(ResultText(value));
  }
  return "NULL";
}

const SelectBlock* BlockOf(const Statement& statement) {
  const QueryPtr* const query = std::get_if<QueryPtr>(&statement.body);
  const auto* const block =
      query == nullptr ? nullptr : std::get_if<std::unique_ptr<SelectBlock>>(&(*query)->body);
  return block == nullptr || (*block)->projection.raw ? nullptr : block->get();
}

// By their aliases.
using Tables = std::vector<std::pair<std::string, std::shared_ptr<const db::KeyspaceInfo>>>;

void AddTable(const FromTerm& term, const db::Catalog& catalog, Tables* tables) {
  if (term.expression == nullptr || term.expression->kind != ExprKind::kName) return;
  auto table = catalog.FindTable(term.expression->name);
  if (table == nullptr || table->table == nullptr) return;
  tables->emplace_back(term.alias.empty() ? term.expression->name : term.alias, std::move(table));
}

// A plain column; or null.
const db::TableColumn* ColumnOf(const Expression& expression, const Tables& tables) {
  const bool path =
      expression.kind == ExprKind::kField && expression.args[0]->kind == ExprKind::kName;
  if (!path && expression.kind != ExprKind::kName) return nullptr;
  for (const auto& [alias, table] : tables) {
    if (path && !db::SameColumnName(expression.args[0]->name, alias)) continue;
    const db::TableColumn* const column = table->table->FindColumn(expression.name);
    if (column != nullptr) return column;
  }
  return nullptr;
}

}  // namespace

Cdb2Types Cdb2TypesOf(std::string_view statement, const db::Catalog& catalog) {
  Cdb2Types types;
  const Result<Statement> parsed = ParseStatement(statement, Dialect::kComdb2);
  const SelectBlock* const block = parsed ? BlockOf(*parsed) : nullptr;
  if (block == nullptr || !block->from) return types;
  Tables tables;
  AddTable(block->from->first, catalog, &tables);
  for (const JoinClause& join : block->from->joins) AddTable(join.term, catalog, &tables);
  for (const ResultTerm& term : block->projection.terms) {
    if (term.star) {
      for (const auto& [alias, table] : tables) {
        for (const db::TableColumn& column : table->table->columns) {
          types[column.name] = column.type;
        }
      }
    } else if (const db::TableColumn* column = ColumnOf(*term.expression, tables)) {
      types[term.alias.empty() ? column->name : term.alias] = column->type;
    }
  }
  return types;
}

namespace {

// The shown name of a column that repeats an earlier name: without the number that distinguishes
// them.
std::string_view ShownName(const json::Value& row, std::string_view name) {
  const size_t colon = name.rfind(':');
  const bool numbered = colon != std::string_view::npos && colon + 1 < name.size() &&
                        name.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return numbered && !row[name.substr(0, colon)].is_missing() ? name.substr(0, colon) : name;
}

}  // namespace

std::string Cdb2Row(const json::Value& row, std::string_view zone, const Cdb2Types& types) {
  if (!row.is_object()) return "($0=" + Cdb2Value(row, zone) + ")";
  std::string text = "(";
  for (const json::Field& field : row.fields()) {
    if (text.size() > 1) text += ", ";
    const auto type = types.find(field.name());
    text +=
        fmt::format("{}={}", ShownName(row, field.name()),
                    Cdb2Value(field.value, zone,
                              type == types.end() ? std::nullopt : std::optional(type->second)));
  }
  return text + ")";
}

}  // namespace sluice::query
