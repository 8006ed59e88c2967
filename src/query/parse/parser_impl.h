// The parser: one class, its members defined in one file per area of the language (parse_*.cc).
// Each member reads the construct that it is named after, from the current token on. One thread;
// lives for one text, which outlives it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "query/parse/ast.h"
#include "query/parse/lexer.h"
#include "query/parse/precedence.h"

namespace sluice::query {

class Parser {
 public:
  // `text` outlives the parser; `tokens` are Lex's of it.
  Parser(std::string_view text, std::vector<Token> tokens, Dialect dialect = Dialect::kSqlpp)
      : text_(text), tokens_(std::move(tokens)), dialect_(dialect) {}

  // Each reads all of the text.
  Result<Statement> WholeStatement();
  Result<ExpressionPtr> WholeExpression();
  Result<IndexKey> WholeIndexKey();

 private:
  // A level of recursion, for as long as it lives.
  class Level {
   public:
    explicit Level(Parser* parser) : parser_(parser) { ++parser_->depth_; }
    ~Level() { --parser_->depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    bool too_deep() const { return parser_->depth_ > kMaxNesting; }

   private:
    Parser* const parser_;
  };
  using Expressions = std::vector<ExpressionPtr>;
  struct KeyValueOptions {
    ExpressionPtr key;
    ExpressionPtr value;
    ExpressionPtr options;
  };

  // Tokens (parser.cc).
  const Token& Here() const { return tokens_[at_]; }
  const Token& Ahead(size_t count) const {
    return tokens_[std::min(at_ + count, tokens_.size() - 1)];
  }
  const TextPlace& place() const { return Here().place; }
  std::string_view TextOf(const Token& token) const {
    return text_.substr(token.place.offset, token.length);
  }
  bool At(Terminal terminal) const { return Here().terminal == terminal; }
  bool At(Terminal first, Terminal second) const { return At(first) && IsAhead(1, second); }
  bool IsAhead(size_t count, Terminal terminal) const { return Ahead(count).terminal == terminal; }
  bool AtEnd() const { return Here().kind == TokenKind::kEnd; }
  bool Accept(Terminal terminal);
  bool Accept(Terminal first, Terminal second);
  Status Expect(Terminal terminal);
  Status ExpectEnd();
  // Words that have no meaning elsewhere, in any case of letters.
  bool IsWordAhead(size_t count, std::string_view upper) const;
  bool AtWord(std::string_view upper) const { return IsWordAhead(0, upper); }
  bool AcceptWord(std::string_view upper);
  Status ExpectWord(std::string_view upper);
  static bool IsName(const Token& token);
  bool AtName() const { return IsName(Here()); }
  bool AtImplicitAlias() const;
  // A name that may not be a reserved word; `what` says what it names, for errors: "an alias".
  Result<std::string> Name(std::string_view what);
  // After a dot any word is a name.
  Result<std::string> FieldName();
  Result<std::string> NameOrString(std::string_view what);
  std::string TakeNameText();
  std::string TakeString() { return DecodeString(TextOf(tokens_[at_++]), dialect_); }
  bool comdb2() const { return dialect_ == Dialect::kComdb2; }
  std::string NumberText() const {
    return comdb2() ? DecodeNumber(TextOf(Here())) : std::string(TextOf(Here()));
  }
  // Reserved words of SQL++ that name things in Comdb2.
  bool IsComdb2Name(const Token& token) const;
  // Whether it is one of these words, with a meaning at the start of an expression.
  bool BeginsExpression(const Token& token) const;
  bool AtAlias() const;
  Result<std::string> Alias();

  // Errors (parser.cc). Expected says "expected WHAT" at the token here; ExpectedName also gives
  // advice for a reserved word in the place of a name.
  Status Expected(std::string_view what) const;
  Status ExpectedName(std::string_view what) const;
  Status Wrong(const Token& token, std::string_view what) const;
  Status TooDeep() const;
  std::string DidYouMean() const;

  // Statements (parser.cc).
  Result<Statement> StatementHere();
  Status StatementBody(Statement* statement);
  Status UnknownStatement() const;
  void CopyParameters(Statement* statement) const;

  // Expressions (parse_expression.cc, parse_operator.cc).
  Result<ExpressionPtr> Expr() { return Binary(Precedence::kOr); }
  Result<Expressions> ExprList();
  Result<ExpressionPtr> Binary(Precedence loosest);
  Precedence OperatorHere() const;
  Result<ExpressionPtr> Operator(ExpressionPtr left, Precedence level);
  Result<ExpressionPtr> Flat(ExpressionPtr left, Terminal terminal, const char* name,
                             Precedence level);
  Result<ExpressionPtr> Comparison(ExpressionPtr left, Precedence level);
  Result<ExpressionPtr> Arithmetic(ExpressionPtr left, Precedence level);
  Result<ExpressionPtr> Like(ExpressionPtr left);
  Result<ExpressionPtr> Between(ExpressionPtr left);
  Result<ExpressionPtr> In(ExpressionPtr left);
  Result<ExpressionPtr> Is(ExpressionPtr left);
  Status NotChained(Precedence level) const;
  Result<ExpressionPtr> Prefix();
  Result<ExpressionPtr> Minus();
  Result<ExpressionPtr> Postfix();
  Result<ExpressionPtr> Step(ExpressionPtr base);
  Result<ExpressionPtr> Subscript(ExpressionPtr base);
  Result<ExpressionPtr> Primary();
  Result<ExpressionPtr> WordPrimary();
  Result<ExpressionPtr> NameOrCall();
  Result<ExpressionPtr> Literal(json::Value value);
  Result<ExpressionPtr> NamedParameter();
  Result<ExpressionPtr> QuestionMark();
  Result<ExpressionPtr> Parenthesised();
  Result<ExpressionPtr> SubqueryHere();
  Status EndSubquery(Expression* subquery, int outer);
  Result<ExpressionPtr> Case();
  Result<ExpressionPtr> ArrayConstructor();
  Result<ExpressionPtr> ObjectConstructor();
  Status ObjectField(Expression* object);
  Result<json::Value> Constant(std::string_view what);

  // Comprehensions and calls (parse_call.cc).
  Result<ExpressionPtr> Quantified();
  Result<ExpressionPtr> Collected(ExprKind kind);
  Result<std::vector<RangeBinding>> Bindings();
  Result<RangeBinding> Binding();
  Result<ExpressionPtr> Call(TextPlace start, std::string name);
  Status CallArguments(Expression* call);
  Status CallModifiers(Expression* call);
  Status OverClause(Expression* call);
  Result<WindowSpec> Window();
  Result<WindowFrame> Frame();
  Status FrameBound(WindowFrame::Bound* bound, ExpressionPtr* offset);
  Status FrameExclusion(WindowFrame* frame);

  // Making nodes: both count levels, and fail when a tree gets too deep.
  static ExpressionPtr Make(ExprKind kind, const TextPlace& place, std::string name = "");
  Result<ExpressionPtr> Finish(ExpressionPtr expression);
  Result<ExpressionPtr> Operation(std::string name, ExpressionPtr a, ExpressionPtr b = nullptr,
                                  ExpressionPtr c = nullptr);

  // Queries (parse_select.cc).
  bool AtQuery() const { return At("SELECT") || At("WITH") || At("FROM"); }
  // Comdb2's (parse_comdb2.cc).
  bool AtComdb2Query() const { return AtQuery() || (comdb2() && At("VALUES")); }
  Result<QueryBody> ValuesHere();
  Result<std::unique_ptr<SelectBlock>> ValuesRow();
  Result<ExpressionPtr> InList();
  Status NameColumns(CommonTable* table, const std::vector<std::string>& names);
  Result<QueryPtr> QueryHere();
  // Reads the rest of a query whose body begins with `first`.
  Result<QueryPtr> QueryFrom(QueryPtr first);
  Status QueryTail(Query* query);
  Status SetOperations(Query* query);
  Result<QueryBody> QueryTerm();
  Status WithClause(Query* query);
  Result<CommonTable> CommonTableHere();
  Result<std::unique_ptr<SelectBlock>> Block();
  Status SelectClause(SelectBlock* block);
  Status Middle(SelectBlock* block);
  Result<Projection> ProjectionHere();
  Result<ResultTerm> ResultTermHere();
  Result<std::vector<NamedExpression>> Assignments();
  Status Group(SelectBlock* block);
  Status WindowClause(SelectBlock* block);
  Result<std::vector<SortTerm>> OrderBy();
  Result<SortTerm> SortTermHere();
  Status LimitAndOffset(ExpressionPtr* limit, ExpressionPtr* offset);
  Result<std::string> OptionalAlias();
  Status Returning(std::optional<Projection>* returning);
  Status WhereClause(ExpressionPtr* where);

  // FROM (parse_from.cc).
  Result<FromClause> From();
  Result<FromTerm> Term();
  Status TermAlias(FromTerm* term);
  Status UseClauses(FromTerm* term);
  Status UseKeys(FromTerm* term);
  Status UseIndex(FromTerm* term);
  bool AtJoin() const;
  Result<JoinClause> Join();
  Status JoinCondition(JoinClause* join);
  bool AtNamespace() const;
  Result<KeyspacePath> Keyspace();
  // A keyspace that is written to.
  Result<FromTerm> Target();

  // Writes (parse_write.cc, parse_merge.cc).
  Result<InsertStatement> Insert();
  Status InsertAction(InsertStatement* insert);
  Status OnConflict(InsertStatement* insert);
  Status InsertSource(InsertStatement* insert);
  Status InsertRows(InsertStatement* insert);
  Result<InsertValues> InsertRow(bool of_columns);
  Status InsertSelect(InsertStatement* insert);
  Status InsertColumns(InsertStatement* insert);
  Status InsertHeader();
  Result<KeyValueOptions> KeyValue();
  Result<UpdateStatement> Update();
  Result<DeleteStatement> Delete();
  Status SetClause(std::vector<Assignment>* set);
  Status UnsetClause(std::vector<Assignment>* unset);
  Result<ExpressionPtr> AssignedPath();
  Result<std::vector<UpdateFor>> UpdateLoops();
  Result<MergeStatement> Merge();
  Status MergeAction(MergeStatement* merge);
  Status MergeMatched(MergeStatement* merge);
  Status MergeInsert(MergeStatement* merge);
  Result<KeyValueOptions> MergeKeyValue();

  // Refuses unsupported statements and expressions by their names (parse_unsupported.cc); OK for
  // all others.
  Status Unsupported() const;
  Status UnsupportedExpression() const;

  // Definitions (parse_definition.cc).
  Status Create(Statement* statement);
  Status Drop(Statement* statement);
  Status Alter(Statement* statement);
  Result<CreateIndexStatement> CreateIndex();
  Status CreateIndexOptions(CreateIndexStatement* index);
  Result<IndexKey> IndexKeyHere();
  Status IndexKeyOrder(IndexKey* key);
  Result<DropIndexStatement> DropIndex();
  Result<AlterIndexStatement> AlterIndex();
  Status IndexName(std::string* name, KeyspacePath* keyspace);
  Status UsingIndexKind(std::string* kind);
  Result<BuildIndexStatement> BuildIndex();
  Result<CatalogStatement> Catalog(CatalogAction action);
  Result<CatalogStatement> Flush();
  Result<bool> IfClause(CatalogAction action);
  Status WithOptions(std::optional<json::Value>* options);

  // Tables (parse_table.cc).
  Result<CreateTableStatement> CreateTable();
  Result<DropTableStatement> DropTable();
  Result<AlterTableStatement> AlterTable();
  Status DropElement(AlterTableStatement::Action* action);
  Result<AlterTableStatement> RenameTable();
  Result<std::string> TableName();
  Result<std::string> ColumnName();
  Result<std::vector<std::string>> ColumnNames();
  Result<query::ColumnName> PlacedColumnName();
  Result<std::vector<query::ColumnName>> PlacedColumnNames();
  Status TableElement(db::TableSchema* schema);
  bool IsTypeAhead(size_t count) const;
  Result<db::TableColumn> ColumnHere(db::TableSchema* schema);
  Status ColumnType(db::TableColumn* column);
  Result<uint32_t> LengthHere();
  Status ColumnOptions(db::TableSchema* schema);
  Result<std::string> TextOfDefault();
  std::string TextSince(size_t first) const;
  static void AddKey(db::TableSchema* schema, db::TableKey key);
  Status TableKeyHere(db::TableSchema* schema, std::string name, bool unique, bool primary);
  Status References(db::TableSchema* schema, db::TableReference reference);
  Status ReferenceActions(db::TableReference* reference);  // [ON DELETE ...] [ON UPDATE ...]
  Result<db::ReferenceAction> ReferenceActionHere();
  Status CheckHere(db::TableSchema* schema, std::string name);
  Status AlterColumn(AlterTableStatement::Action* action);
  // Schemas in csc2 (parse_csc2.cc).
  static void ResolveTexts(Expression& expression, const db::TableSchema* schema);
  Result<std::string> BlockName(std::string_view what);
  Status SchemaBlock(db::TableSchema* schema);
  Status BlockType(db::TableColumn* column, bool* counted);
  Status BlockColumn(db::TableSchema* schema);
  Status BlockDefault(db::TableColumn* column);
  Status BlockKey(db::TableSchema* schema);
  Status BlockConstraint(db::TableSchema* schema);
  Status BlockCheck(db::TableSchema* schema);

  // The rest (parse_other.cc).
  Result<PrepareStatement> Prepare();
  Result<ExecuteStatement> Execute();
  Result<ExplainStatement> Explain();
  Result<std::unique_ptr<Statement>> InnerStatement(std::string_view outer, std::string* text);
  Result<InferStatement> Infer();
  Result<TransactionStatement> Transaction();
  Status IsolationLevel();
  Result<StatisticsStatement> Statistics();

  // Lua procedures (parse_procedure.cc).
  bool AtLuaFunction() const;
  Result<ProcedureStatement> LuaFunction();
  bool AtProcedureCall() const;
  Result<ProcedureStatement> Procedure(ProcedureStatement::Action action);
  Status ProcedureVersion(ProcedureStatement* procedure, bool required);

  // Lua triggers and consumers (parse_trigger.cc).
  bool AtTrigger() const;
  Result<TriggerStatement> Trigger();
  Status TriggerSources(TriggerStatement* trigger);
  Result<TriggerStatement::Source> TriggerSource();
  Status TriggerEvent(TriggerStatement::Source* source);
  Status TriggerFilters(TriggerStatement::Source* source);

  const std::string_view text_;
  const std::vector<Token> tokens_;
  const Dialect dialect_;
  size_t at_ = 0;
  int depth_ = 0;
  // The token with which the last operand began: `a.*` is right and `1 + a.*` is not.
  size_t operand_start_ = 0;
  // The tallest expression since the innermost query began.
  int tallest_ = 0;
  uint32_t question_marks_ = 0;
  uint32_t highest_parameter_ = 0;
  std::vector<std::string> named_parameters_;
  std::unordered_set<std::string_view> known_parameters_;  // the same; views of text_
};

}  // namespace sluice::query
