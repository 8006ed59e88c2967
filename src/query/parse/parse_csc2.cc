// Schemas as Comdb2's csc2 language writes them:
//
//   { tag ondisk { int i  cstring c[10] null=yes dbstore="x" }
//     keys { "K" = i + <DESCEND> c  dup "L" = c  uniqnulls "U" = c }
//     constraints { "L" -> "other":"THEIRS" on delete cascade  check "P" = {where i > 0} } }
#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

std::string Lower(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return name;
}

}  // namespace

// Stored text is SQL++, where double quotes mean a text. So a name in double quotes is resolved
// here: to a column if it exists, otherwise to a text.
void Parser::ResolveTexts(Expression& expression, const db::TableSchema* schema) {
  if (expression.kind == ExprKind::kName && expression.or_text &&
      (schema == nullptr || schema->FindColumn(expression.name) == nullptr)) {
    expression.kind = ExprKind::kLiteral;
    expression.value = json::Value(expression.name);
  }
  ForEachChild(expression, [&](ExpressionPtr& child) { ResolveTexts(*child, schema); });
}

// A word, or a name or text in quotes.
Result<std::string> Parser::BlockName(std::string_view what) {
  if (Here().kind == TokenKind::kString) return TakeString();
  if (Here().kind == TokenKind::kWord || Here().kind == TokenKind::kQuoted) return TakeNameText();
  return Unexpected(Expected(what));
}

Status Parser::SchemaBlock(db::TableSchema* schema) {
  RETURN_IF_ERROR(Expect("{"));
  while (!Accept("}")) {
    const bool tag = AcceptWord("TAG");
    if (tag) {
      const Token& token = Here();
      ASSIGN_OR_RETURN(const std::string name, BlockName("the name of the tag: ondisk"));
      if (!db::SameColumnName(name, "ondisk")) {
        return Wrong(
            token,
            "tags other than ondisk are for clients that read records, which Sluice does not have");
      }
    }
    if (tag || Accept("SCHEMA")) {
      RETURN_IF_ERROR(Expect("{"));
      while (!Accept("}")) RETURN_IF_ERROR(BlockColumn(schema));
    } else if (Accept("KEYS")) {
      RETURN_IF_ERROR(Expect("{"));
      while (!Accept("}")) RETURN_IF_ERROR(BlockKey(schema));
    } else if (AcceptWord("CONSTRAINTS")) {
      RETURN_IF_ERROR(Expect("{"));
      while (!Accept("}")) RETURN_IF_ERROR(BlockConstraint(schema));
    } else {
      return Expected("schema { ... }, tag ondisk { ... }, keys { ... }, constraints { ... } or }");
    }
  }
  return OkStatus();
}

// pstring c[10] is text of ten bytes, byte b one byte.
Status Parser::BlockType(db::TableColumn* column, bool* counted) {
  *counted = false;
  if (AcceptWord("PSTRING")) {
    column->type = db::ColumnType::kCString;
    return OkStatus();
  }
  RETURN_IF_ERROR(ColumnType(column));
  *counted = column->type == db::ColumnType::kCString;  // its last byte is its end
  if (column->type == db::ColumnType::kByte) column->length = 1;
  return OkStatus();
}

// A column is NOT NULL unless it says null=yes. Names are in lower case.
Status Parser::BlockColumn(db::TableSchema* schema) {
  db::TableColumn column;
  bool counted = false;
  RETURN_IF_ERROR(BlockType(&column, &counted));
  ASSIGN_OR_RETURN(column.name, ColumnName());
  column.name = Lower(std::move(column.name));
  if (Accept("[")) {
    ASSIGN_OR_RETURN(column.length, LengthHere());
    RETURN_IF_ERROR(Expect("]"));
    if (counted) --column.length;
  }
  column.not_null = true;
  while (IsAhead(1, "=")) {
    if (Accept("NULL")) {
      ++at_;
      ASSIGN_OR_RETURN(const std::string yes, BlockName("yes or no"));
      column.not_null = !db::SameColumnName(yes, "yes");
    } else if (AcceptWord("DBSTORE")) {
      ++at_;
      RETURN_IF_ERROR(BlockDefault(&column));
    } else if (AcceptWord("DBLOAD")) {
      // dbload: the value that records of clients show instead of NULL; SQL never shows it.
      db::TableColumn shown;
      ++at_;
      RETURN_IF_ERROR(BlockDefault(&shown));
    } else if (AtWord("DBPAD")) {
      return Wrong(Here(),
                   "dbpad is not supported: values of a byte column have exactly its length");
    } else {
      return Expected("null = yes, null = no or dbstore = a value");
    }
  }
  schema->columns.push_back(std::move(column));
  return OkStatus();
}

// A constant; in quotes also CURRENT_TIMESTAMP and calls, and what the type takes as text.
Status Parser::BlockDefault(db::TableColumn* column) {
  const bool braces = Accept("{");
  const bool text = Here().kind == TokenKind::kString ||
                    (Here().kind == TokenKind::kQuoted && TextOf(Here()).front() == '"');
  const std::string_view inside =
      text ? TextOf(Here()).substr(1, TextOf(Here()).size() - 2) : std::string_view();
  const bool call = db::SameColumnName(inside, "current_timestamp") || inside.ends_with("()");
  if (text && call) {
    column->default_text = db::SameColumnName(inside, "current_timestamp") ? "now()" : inside;
    ++at_;
  } else {
    ASSIGN_OR_RETURN(column->default_text, TextOfDefault());
  }
  return braces ? Expect("}") : OkStatus();
}

// [dup] [uniqnulls] [datacopy] "K" = a + <DESCEND> b. datacopy stores rows beside their keys, which
// only speeds up reads.
Status Parser::BlockKey(db::TableSchema* schema) {
  db::TableKey key{.name = "", .parts = {}, .unique = true};
  while (!IsAhead(1, "=")) {
    if (AcceptWord("DUP")) {
      key.unique = false;
    } else if (AcceptWord("UNIQNULLS")) {
      key.many_nulls = true;
    } else if (AcceptWord("DATACOPY")) {
      if (Accept("(")) {
        ASSIGN_OR_RETURN(const std::vector<std::string> copied, ColumnNames());
      }
    } else if (AtWord("RECNUM")) {
      return Wrong(Here(), "recnum (rows by their number in a key) is not supported");
    } else {
      return Expected("the name of a key, in quotes, and =");
    }
  }
  ASSIGN_OR_RETURN(key.name, BlockName("the name of a key, in quotes"));
  RETURN_IF_ERROR(Expect("="));
  do {
    db::TableKeyPart part;
    if (Accept("<")) {
      ASSIGN_OR_RETURN(const std::string order, Name("an order: DESCEND"));
      part.descending = db::SameColumnName(order, "descend");
      if (!part.descending && !db::SameColumnName(order, "ascend")) return Expected("DESCEND");
      RETURN_IF_ERROR(Expect(">"));
    }
    if (At("(")) {
      return Wrong(Here(), "a key of an expression is not supported: make it a column");
    }
    ASSIGN_OR_RETURN(part.column, ColumnName());
    part.column = Lower(std::move(part.column));
    key.parts.push_back(std::move(part));
  } while (Accept("+"));
  if (At("{")) {
    return Wrong(Here(),
                 "a key of some of the rows is not supported here: use CREATE INDEX ... "
                 "WHERE");
  }
  AddKey(schema, std::move(key));
  return OkStatus();
}

// "OURS" -> "table":"THEIRS" [on delete cascade] [on update cascade], the pair also in <>; or
// check ["name"] = {where condition}.
Status Parser::BlockConstraint(db::TableSchema* schema) {
  if (Accept("CHECK")) return BlockCheck(schema);
  const Token& start = Here();
  db::TableReference reference;
  ASSIGN_OR_RETURN(std::string own, BlockName("the name of a key, or check"));
  if (Accept("=")) {  // it was the constraint's name
    reference.name = std::move(own);
    ASSIGN_OR_RETURN(own, BlockName("the name of a key"));
  }
  for (const db::TableKey& key : schema->keys) {
    if (!db::SameColumnName(key.name, own)) continue;
    for (const db::TableKeyPart& part : key.parts) reference.columns.push_back(part.column);
  }
  if (reference.columns.empty()) {
    return Wrong(start, fmt::format("there is no key \"{}\" above the constraints", own));
  }
  RETURN_IF_ERROR(Expect("-"));
  RETURN_IF_ERROR(Expect(">"));
  const bool angles = Accept("<");
  ASSIGN_OR_RETURN(reference.table, BlockName("the name of a table"));
  RETURN_IF_ERROR(Expect(":"));
  ASSIGN_OR_RETURN(std::string theirs, BlockName("the name of a key of that table"));
  if (angles) RETURN_IF_ERROR(Expect(">"));
  // The columns of that key are looked up when the table is made.
  reference.their_columns = {":" + theirs};
  RETURN_IF_ERROR(ReferenceActions(&reference));
  if (reference.name.empty()) {
    reference.name =
        fmt::format("references_{}_{}", reference.table, schema->references.size() + 1);
  }
  schema->references.push_back(std::move(reference));
  return OkStatus();
}

Status Parser::BlockCheck(db::TableSchema* schema) {
  std::string name = fmt::format("check_{}", schema->checks.size() + 1);
  if (!At("=")) {
    ASSIGN_OR_RETURN(name, BlockName("the name of the check"));
  }
  RETURN_IF_ERROR(Expect("="));
  RETURN_IF_ERROR(Expect("{"));
  RETURN_IF_ERROR(Expect("WHERE"));
  ASSIGN_OR_RETURN(ExpressionPtr condition, Expr());
  ResolveTexts(*condition, schema);
  schema->checks.push_back({.name = std::move(name), .condition = ToText(*condition)});
  return Expect("}");
}

}  // namespace sluice::query
