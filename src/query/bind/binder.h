// Names into variables. Every FROM alias, LET, WITH, group key, aggregate, comprehension variable
// of a statement gets a number of its own, subqueries included, so a reference to an outer row is
// a reference like any other. After binding no kName is left in the statement.
//
// Thread: one. A Binder lives while one statement is bound and planned; the catalog outlives it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/catalog.h"
#include "db/row.h"
#include "json/path.h"
#include "query/parse/ast.h"
#include "query/parse/dialect.h"
#include "query/user_functions.h"

namespace sluice::query {

// A table that only one session has: a temporary one of a procedure.
struct LocalTable {
  std::string name;  // in any case of letters; empty: it can be read by its key only
  std::string key;   // kLocalTablePrefix and a name: RunRequest::system_rows gives the rows
  std::shared_ptr<const db::TableSchema> schema;
  bool operator==(const LocalTable&) const = default;
};
inline constexpr std::string_view kLocalTablePrefix = "session/";

// The bucket and scope that a single name is looked up in, and the rules that statements follow.
struct QueryContext {
  std::string bucket = {};  // empty: a single name is a bucket's default collection
  std::string scope = {};
  Dialect dialect = Dialect::kSqlpp;
  // A single name in FROM is one of these first.
  std::vector<LocalTable> local_tables = {};

  const LocalTable* FindLocal(std::string_view name) const;
  const LocalTable* FindLocalByKey(std::string_view key) const;

  // "default:bucket.scope", "bucket.scope", "default:" or empty.
  static Result<QueryContext> Parse(std::string_view text);
  bool operator==(const QueryContext&) const = default;
};

// Whether the sender of a statement may know of a keyspace. Asked before the catalog is, so that
// what is forbidden and what is not there are answered alike. Empty: all may be known.
using KeyspaceGuard = std::function<Status(const db::KeyspaceName& keyspace)>;

struct Variable {
  enum class Kind : uint8_t {
    kDocument,  // a document of a keyspace: has META(), its paths are read from its text
    kValue,     // any value
    kTable,     // the array that a WITH query makes, the same for all rows
  };
  std::string name;
  Kind kind = Kind::kValue;
  db::KeyspaceId keyspace = 0;
  std::string keyspace_name;  // the value of META().keyspace
  VariableId position = 0;    // of an UNNEST: the element's place in its array
  bool position_used = false;
  std::shared_ptr<const db::TableSchema> table = nullptr;  // of a row of a table
  bool may_lack = false;  // on the empty side of an outer join: there may be no row
  bool flat = false;      // * gives its fields, not the object
  // In Comdb2's dialect: the columns of a query or function in FROM; empty if unknown.
  std::vector<std::string> columns = {};
};

// Indexed by VariableId; number 0 is not used.
struct Variables {
  std::vector<Variable> all{Variable{}};

  VariableId Add(std::string name, Variable::Kind kind = Variable::Kind::kValue);
  VariableId AddDocument(std::string name, const db::KeyspaceInfo& keyspace);
  const Variable& operator[](VariableId id) const { return all[id]; }
  bool IsDocument(VariableId id) const { return all[id].kind == Variable::Kind::kDocument; }
};

class Binder {
 public:
  // With null as `functions` there are no user-defined functions.
  Binder(const db::Catalog& catalog, const QueryContext& context,
         const UserFunctionTable* functions = nullptr, KeyspaceGuard guard = nullptr)
      : catalog_(catalog), context_(context), functions_(functions), guard_(std::move(guard)) {}

  Status Bind(Query& query);
  Status Bind(InsertStatement& statement);
  Status Bind(UpdateStatement& statement);
  Status Bind(DeleteStatement& statement);
  Status Bind(MergeStatement& statement);
  // An expression over one document, as in an index definition: bare names are its fields.
  Status BindOverDocument(ExpressionPtr& expression, VariableId document);
  // An expression that may only use parameters and constants.
  Status BindConstant(ExpressionPtr& expression);

  Variables& variables() { return variables_; }
  // Whether the statement calls user-defined functions.
  bool uses_functions() const { return uses_functions_; }

 private:
  struct Scope;
  class GroupRewriter;

  Status BindQuery(Query& query, Scope* outer);
  Status BindWith(Query& query, Scope& scope);
  Status BindBody(QueryBody& body, Scope& scope);
  Status BindBlock(SelectBlock& block, std::vector<SortTerm>* order_by, Scope& outer);
  Status BindNamedWindows(SelectBlock& block, Scope& scope);
  Status BindFrom(FromClause& from, Scope& scope);
  bool NamesKeyspace(const FromTerm& term, const Scope& scope) const;
  Status BindTerm(FromTerm& term, Scope& scope);
  Status BindJoin(JoinClause& join, Scope& scope);
  Status CheckSeries(const FromTerm& term) const;
  Status DeclareTerm(FromTerm& term, Scope& scope);
  Status BindTarget(FromTerm& term, Scope& scope);
  Status BindLet(std::vector<NamedExpression>& let, Scope& scope);
  Status BindGroup(GroupClause& group, Scope& scope);
  Status BindProjection(Projection& projection, Scope& scope);
  Status ExpandStar(const ResultTerm& star, const Scope& scope, std::vector<ResultTerm>* terms);
  Status CheckResultNames(Projection& projection) const;
  Status BindOrder(std::vector<SortTerm>& terms, const Projection& projection, Scope& scope);
  template <typename Changing>
  Status BindChosen(Changing& statement, Scope& scope);
  ExpressionPtr RowOf(const FromTerm& source) const;
  Status BindAssignments(std::vector<Assignment>& assignments, Scope& scope);
  // Replaces group keys and aggregates behind the grouping; variables [first, past) are of rows.
  Status RewriteGroups(SelectBlock& block, std::vector<SortTerm>* order_by, VariableId first,
                       VariableId past);
  static Status ResolveWindow(const SelectBlock& block, Expression& call);
  Status BindWindows(SelectBlock& block, std::vector<SortTerm>* order_by);
  Status BindReturning(std::optional<Projection>& returning, Scope& scope);

  Status BindExpression(ExpressionPtr& expression, Scope& scope);
  Status BindOptional(ExpressionPtr& expression, Scope& scope);
  Status BindName(ExpressionPtr& expression, Scope& scope);
  Status BindComprehension(Expression& expression, Scope& scope);
  Status BindRanges(std::vector<RangeBinding>& bindings, Scope& scope);
  Status BindMeta(Expression& expression, Scope& scope);
  Status BindUnnestPosition(ExpressionPtr& expression, Scope& scope);
  Status BindPath(ExpressionPtr& expression, Scope& scope);
  void FindUserFunction(Expression& call);

  // Comdb2's dialect (bind_comdb2.cc).
  bool comdb2() const { return context_.dialect == Dialect::kComdb2; }
  // A query whose rows are meant, not its value.
  Status BindSource(ExpressionPtr& expression, Scope& scope);
  Status BindScalarSubquery(ExpressionPtr& expression, Scope& scope);
  Status BindArgument(const Expression& call, ExpressionPtr& argument, Scope& scope);
  bool HasColumns(VariableId variable) const;
  std::optional<std::string> ColumnOf(VariableId variable, std::string_view name) const;
  ExpressionPtr MakeColumnNamed(VariableId variable, const std::string& name,
                                const TextPlace& place) const;
  static void NameTerm(FromTerm& term, const Scope& scope);
  void DeclareColumns(const FromTerm& term);
  void AppendColumns(VariableId source, const TextPlace& place, std::vector<ResultTerm>* terms);
  bool ExpandTableStar(const ResultTerm& term, const Scope& scope, std::vector<ResultTerm>* terms);
  static void NameByColumn(ResultTerm& term);
  void UseNumberedColumn(ExpressionPtr& expression, VariableId row) const;
  Status UseResultTerms(SelectBlock& block, const Scope& scope);
  bool IsColumn(const Scope& scope, std::string_view name) const;

  // Tables (bind_table.cc).
  const db::TableSchema* TableOf(VariableId variable) const;
  ExpressionPtr MakeColumn(VariableId row, const db::TableColumn& column,
                           const TextPlace& place) const;
  ExpressionPtr MakeRow(VariableId row, const TextPlace& place) const;
  Status BindColumnOf(ExpressionPtr& expression, VariableId row);
  std::vector<VariableId> TablesWith(const Scope& from, std::string_view column) const;
  Status BindNow(ExpressionPtr& expression);
  static void ConvertCompared(Expression& call);
  Status BindField(ExpressionPtr& expression, const Scope& scope);
  Result<ExpressionPtr> DefaultOf(const db::TableColumn& column, const TextPlace& place);
  Result<std::vector<size_t>> InsertedColumns(const InsertStatement& statement,
                                              const db::TableSchema& schema) const;
  Status CompleteRow(const db::TableSchema& schema, const std::vector<size_t>& columns,
                     std::vector<ExpressionPtr> values, const TextPlace& place, ExpressionPtr* row);
  Status BindTableInsert(InsertStatement& statement);
  Status BindTableSelect(InsertStatement& statement, const db::TableSchema& schema,
                         const std::vector<size_t>& columns);
  Status BindConflict(InsertStatement& statement, const Scope& target);
  Status CheckTableUpdate(VariableId target, const std::vector<Assignment>& set,
                          const std::vector<Assignment>& unset) const;
  Status BindDocumentInsert(InsertStatement& statement);

  const db::Catalog& catalog_;
  QueryContext context_;
  const UserFunctionTable* const functions_;
  const KeyspaceGuard guard_;
  bool uses_functions_ = false;
  Variables variables_;
};

// The keyspace that a path of a statement means; error 12003 and kin with what there is.
Result<std::shared_ptr<const db::KeyspaceInfo>> ResolveKeyspace(
    const db::Catalog& catalog, const QueryContext& context, const KeyspacePath& path,
    const KeyspaceGuard& guard = nullptr);
// `a.b[1]` as steps; nothing for what is no path of names and positions.
std::optional<std::vector<json::PathStep>> AsNamePath(const Expression& expression);
// system:indexes and kin: read from the server itself.
bool IsSystemKeyspace(const KeyspacePath& path);
// comdb2_tables and kin: the same, with columns.
bool IsSystemTable(const KeyspacePath& path);
bool IsSystemTableName(std::string_view name);
// The path's full name, whether or not it exists.
Result<db::KeyspaceName> KeyspaceNameOf(const QueryContext& context, const KeyspacePath& path);

}  // namespace sluice::query
