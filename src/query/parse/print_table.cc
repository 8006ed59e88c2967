#include "query/parse/print_impl.h"

namespace sluice::query {
namespace {

std::string_view ActionText(db::ReferenceAction action) {
  static constexpr std::string_view kTexts[] = {"RESTRICT", "CASCADE", "SET NULL"};
  return kTexts[static_cast<size_t>(action)];
}

}  // namespace

void AstPrinter::Table(const CreateTableStatement& create) {
  Say("CREATE TABLE ");
  if (create.if_not_exists) Say("IF NOT EXISTS ");
  Name(create.schema.name);
  if (create.schema.columns.empty() && create.schema.references.size() == 1) {
    Say(" LIKE ");
    return Name(create.schema.references[0].table);
  }
  Say(" (");
  Elements(create.schema, "");
  Say(")");
}

void AstPrinter::Table(const DropTableStatement& drop) {
  Say(drop.if_exists ? "DROP TABLE IF EXISTS " : "DROP TABLE ");
  Name(drop.name);
  if (drop.cascade) Say(" CASCADE");
}

void AstPrinter::Table(const AlterTableStatement& alter) {
  Say("ALTER TABLE ");
  Name(alter.name);
  for (size_t i = 0; i < alter.actions.size(); ++i) {
    const AlterTableStatement::Action& action = alter.actions[i];
    Say(i == 0 ? " " : ", ");
    switch (action.kind) {
      case AlterTableStatement::Kind::kAdd:
        Elements(action.added, "ADD ");
        break;
      case AlterTableStatement::Kind::kDrop:
        Say(!action.added.keys.empty()     ? "DROP KEY "
            : !action.added.checks.empty() ? "DROP CONSTRAINT "
                                           : "DROP COLUMN ");
        QuotedName(action.name, false);
        break;
      case AlterTableStatement::Kind::kRename:
        Say("RENAME TO ");
        Name(action.to);
        if (action.cascade) Say(" CASCADE");
        break;
      case AlterTableStatement::Kind::kReplace:
        Block(action.added);
        break;
      case AlterTableStatement::Kind::kChange:
        ChangedColumn(action);
        break;
    }
  }
}

void AstPrinter::Columns(const std::vector<ColumnName>& columns) {
  std::vector<std::string> names;
  for (const ColumnName& column : columns) names.push_back(column.name);
  Columns(names);
}

void AstPrinter::Columns(const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    Say(i == 0 ? "(" : ", ");
    Name(names[i]);
  }
  Say(")");
}

void AstPrinter::Elements(const db::TableSchema& schema, std::string_view before) {
  bool first = true;
  const auto separate = [&] {
    if (!std::exchange(first, false)) Say(", ");
    Say(before);
  };
  for (const db::TableColumn& column : schema.columns) {
    separate();
    if (!before.empty()) Say("COLUMN ");
    Column(column);
  }
  for (const db::TableKey& key : schema.keys) {
    separate();
    Key(key);
  }
  for (const db::TableReference& reference : schema.references) {
    separate();
    Reference(reference);
  }
  for (const db::TableCheck& check : schema.checks) {
    separate();
    Say("CONSTRAINT ");
    QuotedName(check.name, false);  // it may be named as a type
    Say(" CHECK (");
    Say(check.condition);
    Say(")");
  }
}

void AstPrinter::Column(const db::TableColumn& column) {
  Name(column.name);
  Say(" ");
  Say(column.TypeText());
  if (column.not_null) Say(" NOT NULL");
  if (!column.default_text.empty()) {
    Say(" DEFAULT ");
    Say(column.default_text);
  }
}

void AstPrinter::Key(const db::TableKey& key) {
  if (key.primary) {
    Say("CONSTRAINT ");
    QuotedName(key.name, false);
    Say(" PRIMARY KEY (");
  } else {
    Say(key.unique ? "UNIQUE " : "KEY ");
    QuotedName(key.name, false);
    Say(" (");
  }
  for (size_t i = 0; i < key.parts.size(); ++i) {
    if (i > 0) Say(", ");
    Name(key.parts[i].column);
    if (key.parts[i].descending) Say(" DESC");
  }
  Say(")");
}

void AstPrinter::Reference(const db::TableReference& reference) {
  Say("CONSTRAINT ");
  QuotedName(reference.name, false);
  Say(" FOREIGN KEY ");
  Columns(reference.columns);
  Say(" REFERENCES ");
  Name(reference.table);
  Say(" ");
  Columns(reference.their_columns);
  Say(" ON DELETE ");
  Say(ActionText(reference.on_delete));
  Say(" ON UPDATE ");
  Say(ActionText(reference.on_update));
}

void AstPrinter::ChangedColumn(const AlterTableStatement::Action& action) {
  const db::TableColumn& column = action.added.columns[0];
  Say("ALTER COLUMN ");
  QuotedName(action.name, false);
  if (action.to == "type") {
    Say(" SET DATA TYPE ");
    Say(column.TypeText());
  } else if (action.to == "default") {
    Say(" SET DEFAULT ");
    Say(column.default_text);
  } else if (action.to == "no default") {
    Say(" DROP DEFAULT");
  } else {
    Say(action.to == "null" ? " DROP NOT NULL" : " SET NOT NULL");
  }
}

void AstPrinter::Block(const db::TableSchema& schema) {
  Say("{ schema {");
  for (const db::TableColumn& column : schema.columns) {
    Say(" ");
    Say(db::ColumnTypeName(column.type));
    Say(" ");
    QuotedName(column.name, false);
    // The last byte of a cstring is its end.
    const uint32_t end = column.type == db::ColumnType::kCString ? 1 : 0;
    if (column.length != 0) Say(fmt::format("[{}]", column.length + end));
    if (!column.not_null) Say(" null = yes");
    if (!column.default_text.empty()) Say(" dbstore = {" + column.default_text + "}");
  }
  Say(" } keys {");
  for (const db::TableKey& key : schema.keys) BlockKey(key);
  Say(" } constraints {");
  for (const db::TableReference& reference : schema.references) BlockReference(schema, reference);
  for (const db::TableCheck& check : schema.checks) {
    Say(" check ");
    QuotedName(check.name, false);
    Say(" = {where " + check.condition + "}");
  }
  Say(" } }");
}

void AstPrinter::BlockKey(const db::TableKey& key) {
  if (!key.unique) Say(" dup");
  if (key.many_nulls) Say(" uniqnulls");
  Say(" ");
  QuotedName(key.name, false);
  for (size_t i = 0; i < key.parts.size(); ++i) {
    Say(i == 0 ? " = " : " + ");
    if (key.parts[i].descending) Say("<DESCEND> ");
    QuotedName(key.parts[i].column, false);
  }
}

void AstPrinter::BlockReference(const db::TableSchema& schema,
                                const db::TableReference& reference) {
  for (const db::TableKey& key : schema.keys) {
    std::vector<std::string> columns;
    for (const db::TableKeyPart& part : key.parts) columns.push_back(part.column);
    if (columns != reference.columns || reference.their_columns.size() != 1) continue;
    Say(" ");
    QuotedName(reference.name, false);
    Say(" = ");
    QuotedName(key.name, false);
    Say(" -> ");
    QuotedName(reference.table, false);
    Say(":");
    QuotedName(reference.their_columns[0].substr(1), false);
    Say(" on delete ");
    Say(ActionText(reference.on_delete));
    Say(" on update ");
    Say(ActionText(reference.on_update));
    return;
  }
}

}  // namespace sluice::query
