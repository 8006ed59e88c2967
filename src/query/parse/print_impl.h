// Statements as text again: one class, in print.cc (expressions), print_query.cc and
// print_statement.cc. Keywords in capitals, one space between words, the fewest parentheses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "query/parse/ast.h"
#include "query/parse/precedence.h"

namespace sluice::query {

class AstPrinter {
 public:
  explicit AstPrinter(std::string* out) : out_(out) {}

  // In parentheses if the expression binds looser than `loosest`.
  void Print(const Expression& expression, Precedence loosest = Precedence::kOr);
  void Print(const Query& query);
  void Print(const IndexKey& key);
  void Print(const Statement& statement);

 private:
  struct StatementBody;

  void Say(std::string_view text) { *out_ += text; }
  // A name as it must be written to be read as a name, and the name of a function.
  void Name(std::string_view name);
  void QuotedName(std::string_view name, bool ignore_case);
  void FieldName(const Expression& field);

  // One expression, without parentheses around it (print.cc).
  void Bare(const Expression& expression);
  void Call(const Expression& call);
  bool AsOperator(const Expression& call);
  void Infix(const Expression& call, std::string_view sign, Precedence level);
  void Arguments(const Expression& call);
  void Modifiers(const Expression& call);
  void Case(const Expression& expression);
  void Comprehend(const Expression& expression);
  void Subscripts(const Expression& expression);
  void Object(const Expression& object);
  void Literal(const json::Value& value);
  void List(const std::vector<ExpressionPtr>& list);
  void Bindings(const std::vector<RangeBinding>& bindings);
  void Window(const WindowSpec& window);
  void Frame(const WindowFrame& frame);
  void FrameBound(WindowFrame::Bound bound, const ExpressionPtr& offset);
  void Clause(std::string_view keyword, const ExpressionPtr& expression);

  // Queries (print_query.cc).
  void Body(const QueryBody& body);
  void BodyInParentheses(const QueryBody& body);
  void Block(const SelectBlock& block);
  void With(const Query& query);
  void Project(const Projection& projection);
  void From(const FromClause& from);
  void Term(const FromTerm& term);
  void Hints(const FromTerm& term);
  void Join(const JoinClause& join);
  void Keyspace(const KeyspacePath& path);
  void Assign(const std::vector<NamedExpression>& list);
  void Group(const GroupClause& group);
  void Sort(const std::vector<SortTerm>& terms);
  void Alias(const std::string& alias);

  // Statements (print_statement.cc).
  void Returning(const std::optional<Projection>& returning);
  void Changes(const std::vector<Assignment>& set, const std::vector<Assignment>& unset);
  void Change(const Assignment& assignment);
  void OnConflict(const ConflictClause& clause);
  void Let(const std::vector<NamedExpression>& let);
  void KeyValue(const ExpressionPtr& key, const ExpressionPtr& value, const ExpressionPtr& options);
  void Options(const std::optional<json::Value>& options);

  // Tables (print_table.cc).
  void Table(const CreateTableStatement& create);
  void Table(const DropTableStatement& drop);
  void Table(const AlterTableStatement& alter);
  void Columns(const std::vector<std::string>& names);
  void Columns(const std::vector<ColumnName>& columns);
  // Columns, keys and constraints, with commas between them and `before` before each.
  void Elements(const db::TableSchema& schema, std::string_view before);
  void Column(const db::TableColumn& column);
  void Key(const db::TableKey& key);
  void Reference(const db::TableReference& reference);
  void ChangedColumn(const AlterTableStatement::Action& action);
  // As csc2 writes it.
  void Block(const db::TableSchema& schema);
  void BlockKey(const db::TableKey& key);
  void BlockReference(const db::TableSchema& schema, const db::TableReference& reference);

  // Triggers and consumers (print_trigger.cc).
  void Trigger(const TriggerStatement& trigger);
  void TriggerSource(const TriggerStatement::Source& source);
  void TriggerEvent(std::string_view word, const std::optional<TriggerStatement::Event>& event,
                    bool* first);

  std::string* const out_;
};

}  // namespace sluice::query
