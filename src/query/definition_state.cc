#include "query/definition_state.h"

#include <algorithm>
#include <utility>

#include "query/definitions.h"
#include "query/error.h"
#include "query/functions/text.h"
#include "query/parse/parser.h"
#include "query/table_checks.h"

namespace sluice::query {
namespace {

using Effect = DefinitionChange::Effect;
using AlterStatement = AlterTableStatement;

std::string_view EffectName(Effect effect) {
  static constexpr std::string_view kNames[] = {"adds", "replaces", "drops", "by_hand"};
  return kNames[static_cast<size_t>(effect)];
}

template <typename Body>
std::string TextOf(Body body) {
  Statement statement;
  statement.body = std::move(body);
  return ToText(statement);
}

bool SameNames(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::equal(a, b, db::SameColumnName);
}

bool SameContent(const db::TableKey& a, const db::TableKey& b) {
  return a.unique == b.unique && a.primary == b.primary &&
         std::ranges::equal(a.parts, b.parts, [](const auto& one, const auto& other) {
           return one.descending == other.descending &&
                  db::SameColumnName(one.column, other.column);
         });
}

bool SameContent(const db::TableReference& a, const db::TableReference& b) {
  return SameNames(a.columns, b.columns) && db::SameColumnName(a.table, b.table) &&
         SameNames(a.their_columns, b.their_columns) && a.on_delete == b.on_delete &&
         a.on_update == b.on_update;
}

bool SameContent(const db::TableCheck& a, const db::TableCheck& b) {
  return SameExpression(a.condition, b.condition);
}

// One table and the statement that would make it.
class TableComparison {
 public:
  TableComparison(const db::Database& database, const db::TableSchema& present,
                  const db::TableSchema& wanted)
      : database_(database), present_(present), wanted_(wanted) {}

  Result<std::vector<DefinitionChange>> Run() {
    for (const db::TableColumn& column : wanted_.columns) {
      const db::TableColumn* const there = present_.FindColumn(column.name);
      if (there == nullptr) {
        RETURN_IF_ERROR(AddColumn(column));
      } else {
        RETURN_IF_ERROR(CompareColumn(*there, column));
      }
    }
    CompareNamed(present_.keys, wanted_.keys, {"key", ""}, &db::TableSchema::keys);
    CompareNamed(present_.references, wanted_.references, {"foreign key", "references_"},
                 &db::TableSchema::references);
    CompareNamed(present_.checks, wanted_.checks, {"constraint", "check"},
                 &db::TableSchema::checks);
    for (const db::TableColumn& column : present_.columns) {
      if (wanted_.FindColumn(column.name) == nullptr) DropColumn(column);
    }
    return std::move(changes_);
  }

 private:
  struct Kind {
    std::string_view noun;
    std::string_view stem;  // of names that the parser makes by counting
  };

  std::string Altered(AlterStatement::Action action) const {
    AlterStatement alter;
    alter.name = present_.name;
    alter.actions.push_back(std::move(action));
    return TextOf(std::move(alter));
  }

  // Whether a new row gets anything but NULL.
  Result<bool> HasDefault(const db::TableSchema& schema, const db::TableColumn& column) const {
    if (column.default_text.empty()) return false;
    ASSIGN_OR_RETURN(const json::Value value, DefaultOf(database_, schema, column));
    return !value.is_null();
  }

  Status AddColumn(const db::TableColumn& column) {
    ASSIGN_OR_RETURN(const bool has_default, HasDefault(wanted_, column));
    if (column.not_null && !has_default) {
      changes_.push_back({Effect::kByHand,
                          fmt::format("column '{}' is missing, and can't be added: it is NOT NULL "
                                      "and has no DEFAULT for the existing rows",
                                      column.name),
                          {}});
      return OkStatus();
    }
    AlterStatement::Action action;
    action.added.columns.push_back(column);
    changes_.push_back({Effect::kAdds,
                        fmt::format("column '{}' is missing", column.name),
                        {Altered(std::move(action))}});
    return OkStatus();
  }

  Status CompareColumn(const db::TableColumn& there, const db::TableColumn& wanted) {
    ASSIGN_OR_RETURN(const bool had_default, HasDefault(present_, there));
    ASSIGN_OR_RETURN(const bool has_default, HasDefault(wanted_, wanted));
    const bool same_default =
        had_default == has_default &&
        (!has_default || SameExpression(there.default_text, wanted.default_text));
    const bool same_null = there.not_null == wanted.not_null || IsKeyToCome(wanted);
    if (there.type == wanted.type && there.length == wanted.length && same_null && same_default) {
      return OkStatus();
    }
    changes_.push_back(
        {Effect::kByHand,
         fmt::format("column '{}' is {}, and the statement says {}: a column can't "
                     "be altered; make another table and copy the rows",
                     there.name, Described(there, had_default), Described(wanted, has_default)),
         {}});
    return OkStatus();
  }

  static std::string Described(const db::TableColumn& column, bool has_default) {
    return fmt::format("{}{}{}", column.TypeText(), column.not_null ? " NOT NULL" : "",
                       has_default ? " DEFAULT " + column.default_text : "");
  }

  // Adding the primary key makes its columns NOT NULL.
  bool IsKeyToCome(const db::TableColumn& column) const {
    if (std::ranges::any_of(present_.keys, &db::TableKey::primary)) return false;
    return std::ranges::any_of(wanted_.keys, [&](const db::TableKey& key) {
      return key.primary && std::ranges::any_of(key.parts, [&](const db::TableKeyPart& part) {
               return db::SameColumnName(part.column, column.name);
             });
    });
  }

  void DropColumn(const db::TableColumn& column) {
    changes_.push_back(
        {Effect::kByHand,
         fmt::format("column '{}' is not in the statement; dropping it loses its values",
                     column.name),
         {Altered({.kind = AlterStatement::Kind::kDrop, .name = column.name})}});
  }

  template <typename Item>
  std::string Added(const Item& item, std::vector<Item> db::TableSchema::*list) const {
    AlterStatement::Action action;
    (action.added.*list).push_back(item);
    return Altered(std::move(action));
  }

  std::string Dropped(const std::string& name, bool key) const {
    AlterStatement::Action action{.kind = AlterStatement::Kind::kDrop, .name = name};
    if (key) action.added.keys.push_back({.name = name, .parts = {}});
    if (!key) action.added.checks.push_back({.name = name, .condition = ""});
    return Altered(std::move(action));
  }

  template <typename Item>
  void CompareNamed(const std::vector<Item>& present, const std::vector<Item>& wanted, Kind kind,
                    std::vector<Item> db::TableSchema::*list) {
    constexpr bool kIsKey = std::is_same_v<Item, db::TableKey>;
    const auto counted = [&](const Item& item) {
      return !kind.stem.empty() && item.name.starts_with(kind.stem);
    };
    std::vector<const Item*> left;
    for (const Item& item : present) left.push_back(&item);
    const auto take = [&](const auto& matches) -> const Item* {
      const auto found = std::ranges::find_if(left, [&](const Item* it) { return matches(*it); });
      if (found == left.end()) return nullptr;
      const Item* const item = *found;
      left.erase(found);
      return item;
    };
    std::vector<const Item*> differing;
    for (const Item& item : wanted) {
      const Item* const same = take([&](const Item& other) {
        return SameContent(item, other) &&
               (db::SameColumnName(item.name, other.name) || (counted(item) && counted(other)));
      });
      if (same == nullptr) differing.push_back(&item);
    }
    for (const Item* const item : differing) {
      const Item* const other =
          take([&](const Item& it) { return db::SameColumnName(it.name, item->name); });
      if (other == nullptr) {
        changes_.push_back({Effect::kAdds,
                            fmt::format("{} '{}' is missing", kind.noun, item->name),
                            {Added(*item, list)}});
        continue;
      }
      changes_.push_back({Effect::kReplaces,
                          fmt::format("{} '{}' differs", kind.noun, item->name),
                          {Dropped(other->name, kIsKey), Added(*item, list)}});
    }
    for (const Item* const item : left) {
      changes_.push_back({Effect::kDrops,
                          fmt::format("{} '{}' is not in the statement", kind.noun, item->name),
                          {Dropped(item->name, kIsKey)}});
    }
  }

  const db::Database& database_;
  const db::TableSchema& present_;
  const db::TableSchema& wanted_;
  std::vector<DefinitionChange> changes_;
};

bool SamePart(const db::IndexPart& a, const db::IndexPart& b) {
  db::IndexPart first = a;
  db::IndexPart second = b;
  first.expression.clear();
  second.expression.clear();
  return first == second && SameExpression(a.expression, b.expression);
}

}  // namespace

bool SameExpression(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (a.empty() || b.empty()) return false;
  const auto first = ParseExpression(a);
  const auto second = ParseExpression(b);
  return first && second && ToText(**first) == ToText(**second);
}

Result<DefinitionState> CompareTable(const db::Database& database,
                                     const CreateTableStatement& statement) {
  RETURN_IF_ERROR(statement.schema.Check());
  const auto table = database.catalog()->FindTable(statement.schema.name);
  if (table == nullptr) return DefinitionState();
  TableComparison comparison(database, *table->table, statement.schema);
  ASSIGN_OR_RETURN(std::vector<DefinitionChange> changes, comparison.Run());
  return DefinitionState{.exists = true, .changes = std::move(changes)};
}

Result<DefinitionState> CompareIndex(const db::Database& database, const QueryContext& context,
                                     const CreateIndexStatement& statement,
                                     const std::string& text) {
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  const db::IndexDefinition wanted = IndexDefinitionOf(statement);
  const auto found = std::ranges::find_if(keyspace->indexes, [&](const auto& index) {
    const std::string& name = index->definition().name;
    return keyspace->table == nullptr ? name == wanted.name : db::SameColumnName(name, wanted.name);
  });
  if (found == keyspace->indexes.end()) return DefinitionState();
  DefinitionState state{.exists = true, .changes = {}};
  const db::IndexDefinition& present = (*found)->definition();
  if (present.primary == wanted.primary && present.unique == wanted.unique &&
      SameExpression(present.where, wanted.where) &&
      std::ranges::equal(present.parts, wanted.parts, SamePart)) {
    return state;
  }
  DropIndexStatement drop;
  drop.primary = present.primary;
  drop.name = present.name;
  drop.keyspace = statement.keyspace;
  state.changes.push_back({Effect::kReplaces,
                           fmt::format("index '{}' differs", present.name),
                           {TextOf(std::move(drop)), text}});
  return state;
}

DefinitionState CompareFunction(const UserFunctionTable& functions,
                                const ProcedureStatement& statement, const std::string& text) {
  const auto present = functions.Find(ToLowerAscii(statement.name));
  if (present == nullptr) return {};
  DefinitionState state{.exists = true, .changes = {}};
  if (present->aggregate == statement.aggregate &&
      present->deterministic == statement.deterministic) {
    return state;
  }
  const auto kind = [](bool aggregate, bool deterministic) {
    return fmt::format("{}{}", aggregate ? "AGGREGATE" : "SCALAR",
                       deterministic ? ", DETERMINISTIC" : "");
  };
  state.changes.push_back(
      {Effect::kReplaces,
       fmt::format("function '{}' is {}, and the statement says {}", present->name,
                   kind(present->aggregate, present->deterministic),
                   kind(statement.aggregate, statement.deterministic)),
       {fmt::format("DROP LUA {} FUNCTION {}", present->aggregate ? "AGGREGATE" : "SCALAR",
                    present->name),
        text}});
  return state;
}

json::Value ToJson(const DefinitionState& state) {
  json::Value changes = json::Value::EmptyArray();
  for (const DefinitionChange& change : state.changes) {
    json::Value statements = json::Value::EmptyArray();
    for (const std::string& statement : change.statements) statements.Append(statement);
    changes.Append(json::Value::Object({{"effect", EffectName(change.effect)},
                                        {"what", change.what},
                                        {"statements", std::move(statements)}}));
  }
  return json::Value::Object({{"exists", state.exists}, {"changes", std::move(changes)}});
}

}  // namespace sluice::query
