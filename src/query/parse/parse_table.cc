// Tables: CREATE, ALTER, DROP, RENAME TABLE.
#include "base/nearest.h"
#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

constexpr uint32_t kMaxLengthDigits = 9;

// A name for a key or constraint that was given none, and that no other has.
template <typename List>
std::string FreeName(const List& list, std::string name) {
  const std::string stem = name;
  for (int n = 2;; ++n) {
    bool taken = false;
    for (const auto& other : list) taken = taken || other.name == name;
    if (!taken) return name;
    name = fmt::format("{}_{}", stem, n);
  }
}

std::string NameOfKey(const std::vector<db::TableKeyPart>& parts, std::string_view kind) {
  std::string name(kind);
  for (const db::TableKeyPart& part : parts) name += "_" + part.column;
  constexpr size_t kNumberBytes = 8;
  return name.size() > db::kMaxNameBytes - kNumberBytes ? std::string(kind) : name;
}

}  // namespace

// The name of a table: one word.
Result<std::string> Parser::TableName() {
  const Token& token = Here();
  ASSIGN_OR_RETURN(const KeyspacePath path, Keyspace());
  if (path.parts.size() == 1 && path.name_space.empty()) return path.parts[0];
  return Unexpected(Wrong(token, "the name of a table is one word"));
}

// Any word: `key`, `value` and others that SQL++ reserves are common names of columns.
Result<std::string> Parser::ColumnName() {
  if (Here().kind != TokenKind::kWord && Here().kind != TokenKind::kQuoted) {
    if (comdb2() && Here().kind == TokenKind::kString) return TakeString();
    return Unexpected(Expected("the name of a column"));
  }
  return TakeNameText();
}

Result<CreateTableStatement> Parser::CreateTable() {
  CreateTableStatement create;
  create.place = place();
  RETURN_IF_ERROR(Expect("CREATE"));
  RETURN_IF_ERROR(Expect("TABLE"));
  ASSIGN_OR_RETURN(create.if_not_exists, IfClause(CatalogAction::kCreate));
  ASSIGN_OR_RETURN(create.schema.name, TableName());
  if (At("{")) {
    RETURN_IF_ERROR(SchemaBlock(&create.schema));
    return create;
  }
  if (comdb2() && Accept("LIKE")) {
    ASSIGN_OR_RETURN(std::string other, TableName());
    create.schema.references.push_back({.name = "like", .columns = {}, .table = std::move(other)});
    return create;
  }
  RETURN_IF_ERROR(Expect("("));
  do {
    RETURN_IF_ERROR(TableElement(&create.schema));
  } while (Accept(","));
  if (!At(")")) return Unexpected(Expected("a comma or )"));
  ++at_;
  return create;
}

// A column or a constraint. Words that begin a constraint may also name a column: then a type
// follows.
Status Parser::TableElement(db::TableSchema* schema) {
  std::string name;
  if (At("CONSTRAINT") && !IsTypeAhead(1)) {
    ++at_;
    ASSIGN_OR_RETURN(name, Name("the constraint"));
  }
  if (Accept("PRIMARY", "KEY")) return TableKeyHere(schema, name, true, true);
  if (At("UNIQUE") && !IsTypeAhead(1)) {
    ++at_;
    if (!Accept("KEY")) Accept("INDEX");
    return TableKeyHere(schema, name, true, false);
  }
  if ((At("KEY") || At("INDEX")) && !IsTypeAhead(1)) {
    ++at_;
    return TableKeyHere(schema, name, false, false);
  }
  if (At("FOREIGN", "KEY")) {
    at_ += 2;
    db::TableReference reference{.name = name};
    RETURN_IF_ERROR(Expect("("));
    ASSIGN_OR_RETURN(reference.columns, ColumnNames());
    return References(schema, std::move(reference));
  }
  if (At("CHECK", "(")) return CheckHere(schema, name);
  if (!name.empty()) return Expected("PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK");
  ASSIGN_OR_RETURN(const db::TableColumn column, ColumnHere(schema));
  return OkStatus();
}

bool Parser::IsTypeAhead(size_t count) const {
  return Ahead(count).kind == TokenKind::kWord &&
         db::ColumnTypeOf(TextOf(Ahead(count))).has_value();
}

// name type [(length)] and what is said of it; it is added to the schema.
Result<db::TableColumn> Parser::ColumnHere(db::TableSchema* schema) {
  db::TableColumn column;
  ASSIGN_OR_RETURN(column.name, ColumnName());
  RETURN_IF_ERROR(ColumnType(&column));
  schema->columns.push_back(column);
  RETURN_IF_ERROR(ColumnOptions(schema));
  return schema->columns.back();
}

Status Parser::ColumnType(db::TableColumn* column) {
  if (Here().kind != TokenKind::kWord) return Expected("the type of the column");
  const auto type = db::ColumnTypeOf(TextOf(Here()));
  if (!type) {
    std::vector<std::string> names;
    for (auto known = db::ColumnType::kShort; known <= db::ColumnType::kDecimal128;
         known = static_cast<db::ColumnType>(static_cast<int>(known) + 1)) {
      names.emplace_back(db::ColumnTypeName(known));
    }
    return Wrong(Here(), fmt::format("expected the type of the column{}",
                                     sluice::DidYouMean(TextOf(Here()), names)));
  }
  ++at_;
  column->type = *type;
  if (Accept("(")) {
    ASSIGN_OR_RETURN(column->length, LengthHere());
    return Expect(")");
  }
  return OkStatus();
}

Result<uint32_t> Parser::LengthHere() {
  const std::string_view digits = TextOf(Here());
  if (Here().kind != TokenKind::kNumber || digits.size() > kMaxLengthDigits ||
      digits.find_first_not_of("0123456789") != std::string_view::npos || digits == "0") {
    return Unexpected(Expected("a length in bytes"));
  }
  ++at_;
  uint32_t length = 0;
  for (const char c : digits) length = length * 10 + static_cast<uint32_t>(c - '0');
  return length;
}

// NULL, NOT NULL, DEFAULT, PRIMARY KEY, UNIQUE, REFERENCES and CHECK of the last column.
Status Parser::ColumnOptions(db::TableSchema* schema) {
  while (true) {
    db::TableColumn& column = schema->columns.back();
    const std::vector<db::TableKeyPart> part = {{.column = column.name}};
    if (Accept("NULL")) {
      column.not_null = false;
    } else if (Accept("NOT", "NULL")) {
      column.not_null = true;
    } else if (Accept("DEFAULT")) {
      ASSIGN_OR_RETURN(column.default_text, TextOfDefault());
    } else if (Accept("PRIMARY", "KEY")) {
      AddKey(schema, {.name = "", .parts = part, .unique = true, .primary = true});
    } else if (Accept("UNIQUE")) {
      AddKey(schema, {.name = "", .parts = part, .unique = true, .many_nulls = true});
    } else if (At("REFERENCES")) {
      RETURN_IF_ERROR(References(schema, {.name = "", .columns = {column.name}}));
    } else if (At("CHECK", "(")) {
      RETURN_IF_ERROR(CheckHere(schema, ""));
    } else {
      return OkStatus();
    }
  }
}

Result<std::string> Parser::TextOfDefault() {
  const size_t from = at_;
  ASSIGN_OR_RETURN(const ExpressionPtr expression, Prefix());
  if (!comdb2()) return TextSince(from);
  // Stored expressions are SQL++.
  ResolveTexts(*expression, nullptr);
  return ToText(*expression);
}

// The text from a token up to here.
std::string Parser::TextSince(size_t first) const {
  const Token& last = tokens_[at_ - 1];
  const size_t from = tokens_[first].place.offset;
  return std::string(text_.substr(from, last.place.offset + last.length - from));
}

void Parser::AddKey(db::TableSchema* schema, db::TableKey key) {
  if (key.primary) {
    for (const db::TableKeyPart& part : key.parts) {
      const auto column = schema->ColumnIndex(part.column);
      if (column) schema->columns[*column].not_null = true;
    }
  }
  if (key.name.empty()) {
    key.name = key.primary ? "primary" : NameOfKey(key.parts, key.unique ? "unique" : "key");
    key.name = FreeName(schema->keys, std::move(key.name));
  }
  schema->keys.push_back(std::move(key));
}

// [name] (column [ASC|DESC], ...)
Status Parser::TableKeyHere(db::TableSchema* schema, std::string name, bool unique, bool primary) {
  db::TableKey key{.name = std::move(name),
                   .parts = {},
                   .unique = unique,
                   .primary = primary,
                   .many_nulls = unique && !primary};
  if (!At("(")) {
    ASSIGN_OR_RETURN(key.name, NameOrString("the key"));
  }
  RETURN_IF_ERROR(Expect("("));
  do {
    db::TableKeyPart part;
    ASSIGN_OR_RETURN(part.column, ColumnName());
    part.descending = Accept("DESC");
    if (!part.descending) Accept("ASC");
    key.parts.push_back(std::move(part));
  } while (Accept(","));
  RETURN_IF_ERROR(Expect(")"));
  AddKey(schema, std::move(key));
  return OkStatus();
}

// After the opening parenthesis.
Result<std::vector<std::string>> Parser::ColumnNames() {
  std::vector<std::string> names;
  do {
    ASSIGN_OR_RETURN(std::string name, ColumnName());
    names.push_back(std::move(name));
  } while (Accept(","));
  RETURN_IF_ERROR(Expect(")"));
  return names;
}

Result<query::ColumnName> Parser::PlacedColumnName() {
  query::ColumnName column;
  column.place = place();
  ASSIGN_OR_RETURN(column.name, ColumnName());
  return column;
}

Result<std::vector<query::ColumnName>> Parser::PlacedColumnNames() {
  std::vector<query::ColumnName> columns;
  do {
    ASSIGN_OR_RETURN(query::ColumnName column, PlacedColumnName());
    columns.push_back(std::move(column));
  } while (Accept(","));
  RETURN_IF_ERROR(Expect(")"));
  return columns;
}

Status Parser::References(db::TableSchema* schema, db::TableReference reference) {
  RETURN_IF_ERROR(Expect("REFERENCES"));
  ASSIGN_OR_RETURN(reference.table, TableName());
  if (Accept("(")) {
    ASSIGN_OR_RETURN(reference.their_columns, ColumnNames());
  } else {
    reference.their_columns = reference.columns;
  }
  RETURN_IF_ERROR(ReferenceActions(&reference));
  if (reference.name.empty()) {
    reference.name = FreeName(schema->references, "references_" + reference.table);
  }
  schema->references.push_back(std::move(reference));
  return OkStatus();
}

Status Parser::ReferenceActions(db::TableReference* reference) {
  while (Accept("ON")) {
    const bool deletes = At("DELETE");
    if (!deletes && !At("UPDATE")) return Expected("DELETE or UPDATE");
    ++at_;
    ASSIGN_OR_RETURN(const db::ReferenceAction action, ReferenceActionHere());
    (deletes ? reference->on_delete : reference->on_update) = action;
  }
  return OkStatus();
}

Result<db::ReferenceAction> Parser::ReferenceActionHere() {
  if (Accept("CASCADE")) return db::ReferenceAction::kCascade;
  if (Accept("RESTRICT") || Accept("NO", "ACTION")) return db::ReferenceAction::kRefuse;
  if (Accept("SET", "NULL")) return db::ReferenceAction::kSetNull;
  return Unexpected(Expected("CASCADE, RESTRICT, NO ACTION or SET NULL"));
}

Status Parser::CheckHere(db::TableSchema* schema, std::string name) {
  RETURN_IF_ERROR(Expect("CHECK"));
  RETURN_IF_ERROR(Expect("("));
  const size_t from = at_;
  ASSIGN_OR_RETURN(const ExpressionPtr condition, Expr());
  if (comdb2()) ResolveTexts(*condition, schema);
  const std::string text = comdb2() ? ToText(*condition) : TextSince(from);
  RETURN_IF_ERROR(Expect(")"));
  if (name.empty()) name = FreeName(schema->checks, "check");
  schema->checks.push_back({.name = std::move(name), .condition = text});
  return OkStatus();
}

Result<DropTableStatement> Parser::DropTable() {
  DropTableStatement drop;
  drop.place = place();
  RETURN_IF_ERROR(Expect("DROP"));
  RETURN_IF_ERROR(Expect("TABLE"));
  ASSIGN_OR_RETURN(drop.if_exists, IfClause(CatalogAction::kDrop));
  ASSIGN_OR_RETURN(drop.name, TableName());
  if (!drop.if_exists) {
    ASSIGN_OR_RETURN(drop.if_exists, IfClause(CatalogAction::kDrop));
  }
  drop.cascade = Accept("CASCADE");
  return drop;
}

// DROP [COLUMN] c, DROP KEY k, DROP CONSTRAINT k. These words may also name a column.
Status Parser::DropElement(AlterTableStatement::Action* action) {
  action->kind = AlterTableStatement::Kind::kDrop;
  const auto names = [&] {
    return Ahead(1).kind == TokenKind::kWord || Ahead(1).kind == TokenKind::kQuoted;
  };
  if (Accept("PRIMARY", "KEY")) {
    action->name = "primary";
    action->added.keys.push_back({.name = action->name, .parts = {}});
    return OkStatus();
  }
  const bool foreign = At("FOREIGN", "KEY");
  if (foreign) ++at_;
  const bool key = !foreign && (At("KEY") || At("INDEX")) && names();
  const bool constraint = (foreign || At("CONSTRAINT")) && names();
  if (key || constraint) ++at_;
  if (!key && !constraint) Accept("COLUMN");
  ASSIGN_OR_RETURN(action->name, ColumnName());
  if (key) action->added.keys.push_back({.name = action->name, .parts = {}});
  if (constraint) action->added.checks.push_back({.name = action->name, .condition = ""});
  return OkStatus();
}

// ALTER TABLE t ADD [COLUMN] c type ..., ADD a key or constraint, DROP ..., RENAME TO u
Result<AlterTableStatement> Parser::AlterTable() {
  AlterTableStatement alter;
  alter.place = place();
  RETURN_IF_ERROR(Expect("ALTER"));
  RETURN_IF_ERROR(Expect("TABLE"));
  ASSIGN_OR_RETURN(alter.name, TableName());
  if (At("{")) {
    AlterTableStatement::Action action{.kind = AlterTableStatement::Kind::kReplace};
    action.added.name = alter.name;
    RETURN_IF_ERROR(SchemaBlock(&action.added));
    alter.actions.push_back(std::move(action));
    return alter;
  }
  do {
    AlterTableStatement::Action action;
    if (Accept("ADD")) {
      // A column may be named COLUMN, or as a type is.
      if (At("COLUMN") && (!IsTypeAhead(1) || IsTypeAhead(2))) ++at_;
      action.kind = AlterTableStatement::Kind::kAdd;
      RETURN_IF_ERROR(TableElement(&action.added));
    } else if (Accept("DROP")) {
      RETURN_IF_ERROR(DropElement(&action));
    } else if (Accept("RENAME")) {
      if (Accept("TO")) {
        action.kind = AlterTableStatement::Kind::kRename;
        ASSIGN_OR_RETURN(action.to, TableName());
        action.cascade = Accept("CASCADE");
      } else {
        return Unexpected(Expected("TO and the table's new name"));
      }
    } else if (Accept("ALTER")) {
      RETURN_IF_ERROR(AlterColumn(&action));
    } else {
      return Unexpected(Expected("ADD, ALTER, DROP or RENAME"));
    }
    alter.actions.push_back(std::move(action));
  } while (Accept(","));
  return alter;
}

// ALTER [COLUMN] c SET DATA TYPE type | SET DEFAULT e | DROP DEFAULT | SET NOT NULL | DROP NOT NULL
Status Parser::AlterColumn(AlterTableStatement::Action* action) {
  action->kind = AlterTableStatement::Kind::kChange;
  Accept("COLUMN");
  ASSIGN_OR_RETURN(action->name, ColumnName());
  db::TableColumn column{.name = action->name};
  if (Accept("DROP")) {
    if (Accept("DEFAULT")) {
      action->to = "no default";
    } else if (Accept("NOT", "NULL")) {
      action->to = "null";
    } else {
      return Expected("DEFAULT or NOT NULL");
    }
  } else {
    RETURN_IF_ERROR(Expect("SET"));
    if (Accept("DEFAULT")) {
      action->to = "default";
      ASSIGN_OR_RETURN(column.default_text, TextOfDefault());
    } else if (Accept("NOT", "NULL")) {
      action->to = "not null";
    } else {
      action->to = "type";
      if (AcceptWord("DATA")) RETURN_IF_ERROR(Expect("TYPE"));
      RETURN_IF_ERROR(ColumnType(&column));
    }
  }
  action->added.columns.push_back(std::move(column));
  return OkStatus();
}

// RENAME TABLE t TO u
Result<AlterTableStatement> Parser::RenameTable() {
  AlterTableStatement alter;
  alter.place = place();
  RETURN_IF_ERROR(Expect("RENAME"));
  RETURN_IF_ERROR(Expect("TABLE"));
  ASSIGN_OR_RETURN(alter.name, TableName());
  RETURN_IF_ERROR(Expect("TO"));
  AlterTableStatement::Action action{.kind = AlterTableStatement::Kind::kRename};
  ASSIGN_OR_RETURN(action.to, TableName());
  action.cascade = Accept("CASCADE");
  alter.actions.push_back(std::move(action));
  return alter;
}

}  // namespace sluice::query
