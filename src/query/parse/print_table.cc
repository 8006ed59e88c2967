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

}  // namespace sluice::query
