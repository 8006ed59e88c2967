// The syntax tree of a statement. The parser makes it, the binder (bind/) resolves names in place,
// and the planner (plan/) reads it.
//
// Operators are calls: `a + b` is the call "add", `a > b` is "lt" with its arguments swapped, as
// SQL++ lets users call them too. Every walk over expressions goes through ForEachChild.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "db/table_schema.h"
#include "json/value.h"

namespace sluice::query {

// Deepest nesting of expressions and subqueries in a statement, and its longest text.
inline constexpr int kMaxNesting = 400;
inline constexpr size_t kMaxStatementBytes = 1 << 20;

// Lines and columns count from 1; the offset is in bytes from the statement's start.
struct TextPlace {
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t offset = 0;
};

struct Expression;
struct Query;
struct UserFunction;  // user_functions.h
using ExpressionPtr = std::unique_ptr<Expression>;
using QueryPtr = std::unique_ptr<Query>;
using VariableId = uint32_t;

struct SortTerm {
  enum class Nulls : uint8_t { kDefault, kFirst, kLast };
  ExpressionPtr expression;
  bool descending = false;
  ExpressionPtr direction;  // a parameter with "asc" or "desc", instead of `descending`
  Nulls nulls = Nulls::kDefault;
};

// v, or name:v, IN or WITHIN an expression.
struct RangeBinding {
  std::string name;  // of the index or field name; empty without one
  std::string value;
  bool within = false;
  ExpressionPtr source;
  // Set by the binder.
  VariableId name_id = 0;
  VariableId value_id = 0;
};

// ANY/EVERY ... SATISFIES, ARRAY/FIRST/OBJECT ... FOR ... WHEN ... END.
struct Comprehension {
  std::vector<RangeBinding> bindings;
  ExpressionPtr name;  // OBJECT: the field's name
  ExpressionPtr body;  // the value to collect; the condition of ANY and EVERY
  ExpressionPtr when;
};

struct WindowFrame {
  enum class Unit : uint8_t { kRows, kRange, kGroups };
  enum class Bound : uint8_t {
    kUnboundedPreceding,
    kPreceding,
    kCurrentRow,
    kFollowing,
    kUnboundedFollowing,
  };
  enum class Exclude : uint8_t { kNoOthers, kCurrentRow, kGroup, kTies };
  Unit unit = Unit::kRange;
  Bound start = Bound::kUnboundedPreceding;
  ExpressionPtr start_offset;
  Bound end = Bound::kCurrentRow;
  ExpressionPtr end_offset;
  Exclude exclude = Exclude::kNoOthers;
};

struct WindowSpec {
  std::string base;  // the name of a WINDOW that this refers to or extends
  std::vector<ExpressionPtr> partition_by;
  std::vector<SortTerm> order_by;
  std::optional<WindowFrame> frame;
};

enum class ExprKind : uint8_t {
  kLiteral,       // value
  kName,          // name, to be resolved by the binder
  kVariable,      // variable: a name that the binder has resolved
  kParameter,     // name: "amount" of $amount, "1" of $1; a `?` is numbered in order
  kField,         // args[0].name
  kFieldOf,       // args[0].[args[1]]
  kElement,       // args[0][args[1]]
  kSlice,         // args[0][args[1]:args[2]]; args[1] and args[2] may be null pointers
  kArrayStar,     // args[0][*]
  kCall,          // name(args), lower case
  kSimpleCase,    // args: operand, when, then, when, then, ... and an ELSE if the count is even
  kSearchedCase,  // args: when, then, when, then, ... and an ELSE if the count is odd
  kAny,
  kEvery,
  kAnyAndEvery,
  kArrayFor,
  kFirstFor,
  kObjectFor,
  kObject,    // args: name, value, name, value, ...
  kArray,     // args: elements
  kSubquery,  // query; its value is the array of its rows
  kStar,      // the * of COUNT(*)
};

struct Expression {
  ExprKind kind = ExprKind::kLiteral;
  TextPlace place;
  std::string name;
  json::Value value;
  std::vector<ExpressionPtr> args;
  bool ignore_case = false;  // kName, kField: written as `name`i
  bool distinct = false;     // kCall: COUNT(DISTINCT x); kArrayFor: DISTINCT ARRAY in an index key
  bool quoted = false;       // kName: in back quotes
  bool or_text = false;      // kName: written as "name"; where nothing has the name it is a text
  bool in_parentheses = false;
  // Levels of the tree from here down, subqueries included, as parsed: at most kMaxNesting.
  uint16_t height = 1;

  std::unique_ptr<Comprehension> comprehension;
  QueryPtr query;
  // kCall of an aggregate or window function.
  ExpressionPtr filter;
  std::unique_ptr<WindowSpec> window;
  bool ignore_nulls = false;
  bool from_last = false;

  // Set by the binder.
  VariableId variable = 0;
  std::shared_ptr<const UserFunction> user_function;  // kCall of one
};

// Calls `visit` with every direct sub-expression (null pointers are left out), not into subqueries.
void ForEachChild(Expression& expression, const std::function<void(ExpressionPtr&)>& visit);
void ForEachChild(const Expression& expression,
                  const std::function<void(const Expression&)>& visit);
ExpressionPtr Clone(const Expression& expression);
QueryPtr Clone(const Query& query);
WindowSpec Clone(const WindowSpec& window);
// Same meaning by structure: used to match GROUP BY keys and index expressions. Places don't count.
bool SameExpression(const Expression& a, const Expression& b);

// As a user would write it, with the fewest parentheses: names of result fields in messages,
// EXPLAIN, stored index definitions. Parsing the text again gives the same expression.
std::string ToText(const Expression& expression);
std::string ToText(const Query& query);
struct IndexKey;
struct Statement;
std::string ToText(const IndexKey& key);
std::string ToText(const Statement& statement);

// One name of namespace:bucket.scope.collection, or bucket alone, or a name in the query context.
struct KeyspacePath {
  TextPlace place;
  std::string name_space;
  std::vector<std::string> parts;
};

struct KeyHint {
  ExpressionPtr keys;
  bool validate = false;
};

struct IndexHint {
  std::string name;  // empty: any of that kind
  std::string using_kind;
};

enum class JoinMethodHint : uint8_t { kNone, kHashBuild, kHashProbe, kNestedLoop };

// One operand of FROM. `expression` may turn out to be a keyspace: `a.b.c` is parsed as a path
// expression, and it is a keyspace unless `a` is a variable in scope.
struct FromTerm {
  TextPlace place;
  ExpressionPtr expression;              // a path, any other expression, or a subquery
  std::optional<KeyspacePath> keyspace;  // written with a namespace (default:a.b.c), or bound so
  std::string alias;
  bool explicit_alias = false;
  bool lateral = false;
  std::optional<KeyHint> use_keys;
  std::vector<IndexHint> use_index;
  JoinMethodHint join_method = JoinMethodHint::kNone;
  VariableId variable = 0;
};

enum class JoinKind : uint8_t { kJoin, kNest, kUnnest };
enum class JoinType : uint8_t { kInner, kLeft, kRight };

struct JoinClause {
  JoinKind kind = JoinKind::kJoin;
  JoinType type = JoinType::kInner;
  bool comma = false;
  FromTerm term;
  ExpressionPtr on;       // ANSI
  ExpressionPtr on_keys;  // ON KEYS e
  ExpressionPtr on_key;   // ON KEY e FOR alias
  std::string on_key_for;
  // Set by the binder: NEST's alias is one document in ON and the array of them afterwards.
  VariableId nest_variable = 0;
};

struct FromClause {
  FromTerm first;
  std::vector<JoinClause> joins;
};

struct NamedExpression {
  TextPlace place;
  std::string name;
  ExpressionPtr expression;
  VariableId variable = 0;
};

struct ResultTerm {
  TextPlace place;
  ExpressionPtr expression;  // null for a bare *
  bool star = false;         // * or expression.*
  std::string alias;         // empty: taken from the expression
  bool of_star = false;      // set by the binder: it stands for a part of a bare *
};

struct Projection {
  bool distinct = false;
  bool raw = false;  // RAW, ELEMENT or VALUE: one term, not wrapped in an object
  std::vector<ResultTerm> terms;
  std::vector<ExpressionPtr> exclude;
};

struct GroupClause {
  std::vector<NamedExpression> keys;  // alias in `name`, may be empty
  std::string group_as;
  std::vector<NamedExpression> letting;
  ExpressionPtr having;
  VariableId group_as_variable = 0;
};

struct NamedWindow {
  std::string name;
  WindowSpec spec;
};

struct SelectBlock {
  TextPlace place;
  std::vector<std::string> hints;  // the text of /*+ ... */
  Projection projection;
  std::optional<FromClause> from;
  std::vector<NamedExpression> let;
  ExpressionPtr where;
  std::optional<GroupClause> group;  // also HAVING alone
  std::vector<NamedWindow> windows;

  // Set by the binder. The calls were replaced by these variables where they stood.
  std::vector<NamedExpression> aggregates;
  std::vector<NamedExpression> window_calls;
};

enum class SetOperator : uint8_t { kUnion, kIntersect, kExcept };

struct SetOperation;
// A block, a set operation, or a query in parentheses with an order and limit of its own.
using QueryBody =
    std::variant<std::unique_ptr<SelectBlock>, std::unique_ptr<SetOperation>, QueryPtr>;

struct SetOperation {
  SetOperator op = SetOperator::kUnion;
  bool all = false;
  QueryBody left;
  QueryBody right;
};

struct CommonTable {
  TextPlace place;
  std::string name;
  ExpressionPtr expression;            // often a subquery
  std::optional<json::Value> options;  // of a recursive one: {"levels": n, "documents": n}
  std::vector<ExpressionPtr> cycle;    // CYCLE a, b RESTRICT
  VariableId variable = 0;
};

struct Query {
  TextPlace place;
  bool recursive = false;
  std::vector<CommonTable> with;
  QueryBody body;
  std::vector<SortTerm> order_by;
  ExpressionPtr limit;
  ExpressionPtr offset;

  // Set by the binder: the variable that ORDER BY of a set operation refers to, and whether the
  // result depends on variables of the enclosing statement.
  VariableId result_variable = 0;
  bool correlated = false;
};

// --- statements ---

// VALUES (key, document[, options]); or one value for each column, which may look the same: the
// target decides.
struct InsertValues {
  TextPlace place;
  std::vector<ExpressionPtr> columns;  // when it can't be a key and a document
  ExpressionPtr key;
  ExpressionPtr value;
  ExpressionPtr options;
};

// A column of a table, as a statement names it.
struct ColumnName {
  TextPlace place;
  std::string name;
};

// FOR v IN e, w IN e WHEN c END, behind a SET or UNSET; several FORs nest.
struct UpdateFor {
  std::vector<RangeBinding> bindings;
  ExpressionPtr when;
};

struct Assignment {
  TextPlace place;
  ExpressionPtr target;  // a path, or META().expiration
  ExpressionPtr value;   // null for UNSET
  std::vector<UpdateFor> loops;
};

// INSERT INTO t ... ON CONFLICT [(columns)] DO NOTHING | DO UPDATE SET ... [WHERE ...]; REPLACE.
struct ConflictClause {
  enum class Action : uint8_t { kNothing, kUpdate, kReplace };
  TextPlace place;
  Action action = Action::kNothing;
  std::vector<ColumnName> columns;  // of the unique key that is meant; none: of any
  std::vector<Assignment> set;      // kUpdate
  ExpressionPtr where;
  FromTerm excluded;  // set by the binder: the row that would have been inserted
};

struct InsertStatement {  // and UPSERT, REPLACE
  bool upsert = false;
  FromTerm target;                  // keyspace set
  std::vector<ColumnName> columns;  // of a table: INTO t (a, b); empty for all
  std::vector<InsertValues> rows;
  // INSERT INTO k (KEY e, VALUE e, OPTIONS e) SELECT
  ExpressionPtr select_key;
  ExpressionPtr select_value;
  ExpressionPtr select_options;
  QueryPtr select;
  std::optional<ConflictClause> conflict;  // none: a duplicate is an error
  std::optional<Projection> returning;
};

struct UpdateStatement {
  FromTerm target;
  std::vector<NamedExpression> let;
  std::vector<Assignment> set;
  std::vector<Assignment> unset;
  ExpressionPtr where;
  ExpressionPtr limit;
  ExpressionPtr offset;
  std::optional<Projection> returning;
};

struct DeleteStatement {
  FromTerm target;
  std::vector<NamedExpression> let;
  ExpressionPtr where;
  ExpressionPtr limit;
  ExpressionPtr offset;
  std::optional<Projection> returning;
};

struct MergeStatement {
  FromTerm target;
  FromTerm source;
  ExpressionPtr on;      // ON condition
  ExpressionPtr on_key;  // ON KEY e
  std::vector<NamedExpression> let;
  bool has_update = false;
  std::vector<Assignment> set;
  std::vector<Assignment> unset;
  ExpressionPtr update_where;
  bool has_delete = false;
  ExpressionPtr delete_where;
  bool has_insert = false;
  ExpressionPtr insert_key;
  ExpressionPtr insert_value;
  ExpressionPtr insert_options;
  ExpressionPtr insert_where;
  ExpressionPtr limit;
  std::optional<Projection> returning;
};

struct IndexKey {
  ExpressionPtr expression;   // kArrayFor for DISTINCT/ALL ARRAY ... END
  bool each_element = false;  // written with DISTINCT or ALL
  bool distinct = false;      // DISTINCT rather than ALL
  bool descending = false;
  bool include_missing = false;
};

struct CreateIndexStatement {
  TextPlace place;
  bool primary = false;
  bool unique = false;  // of a table
  bool if_not_exists = false;
  std::string name;  // a primary index may have none: #primary
  KeyspacePath keyspace;
  std::vector<IndexKey> keys;
  std::vector<ExpressionPtr> partition_by;
  ExpressionPtr where;
  std::string using_kind;
  std::optional<json::Value> with;
};

struct DropIndexStatement {
  TextPlace place;
  bool primary = false;
  bool if_exists = false;
  std::string name;
  KeyspacePath keyspace;
};

struct AlterIndexStatement {
  TextPlace place;
  std::string name;
  KeyspacePath keyspace;
  std::optional<json::Value> with;
};

struct BuildIndexStatement {
  TextPlace place;
  KeyspacePath keyspace;
  std::vector<ExpressionPtr> names;  // names as string literals, or a subquery/array expression
};

enum class CatalogObject : uint8_t { kBucket, kScope, kCollection };
enum class CatalogAction : uint8_t { kCreate, kDrop, kAlter, kFlush };

struct CatalogStatement {  // CREATE, DROP, ALTER, FLUSH/TRUNCATE of bucket, scope, collection
  TextPlace place;
  CatalogAction action = CatalogAction::kCreate;
  CatalogObject object = CatalogObject::kCollection;
  bool if_clause = false;  // IF NOT EXISTS, IF EXISTS
  KeyspacePath name;
  std::optional<json::Value> with;
};

struct CreateTableStatement {
  TextPlace place;
  bool if_not_exists = false;
  db::TableSchema schema;  // of LIKE t: its name, and a reference to t
};

struct DropTableStatement {
  TextPlace place;
  bool if_exists = false;
  bool cascade = false;  // with the triggers and consumers that stand on it
  std::string name;
};

struct AlterTableStatement {  // and RENAME TABLE
  enum class Kind : uint8_t { kAdd, kDrop, kRename, kReplace, kChange };
  struct Action {
    Kind kind = Kind::kAdd;
    // kAdd: what; kDrop: a key or check by its name, or nothing; kReplace: { ... }, what the table
    // shall be; kChange: the column
    db::TableSchema added = {};
    std::string name = {};  // kDrop, kChange: a column; kDrop: or that name
    // kRename; kChange: type, default, no default, not null or null
    std::string to = {};
    bool cascade = false;  // kRename: triggers and consumers continue under the new name
  };
  TextPlace place;
  std::string name;
  std::vector<Action> actions;
};

struct Statement;

struct PrepareStatement {
  bool force = false;
  std::string name;  // may be empty
  std::unique_ptr<Statement> statement;
  std::string text;  // of the statement inside
};

struct ExecuteStatement {
  TextPlace place;
  std::string name;
  ExpressionPtr using_arguments;  // an array or an object
};

struct ExplainStatement {
  std::unique_ptr<Statement> statement;
  std::string text;
};

struct InferStatement {
  TextPlace place;
  std::optional<KeyspacePath> keyspace;
  ExpressionPtr expression;
  std::optional<json::Value> with;
};

struct TransactionStatement {
  enum class Action : uint8_t { kBegin, kCommit, kRollback, kSavepoint, kRollbackTo, kSet };
  Action action = Action::kBegin;
  std::string savepoint;
};

// UPDATE STATISTICS / ANALYZE: accepted for compatibility; the planner keeps no statistics.
struct StatisticsStatement {
  KeyspacePath keyspace;
};

// CREATE, DROP, PUT DEFAULT and EXEC PROCEDURE; CREATE and DROP LUA SCALAR and AGGREGATE FUNCTION
struct ProcedureStatement {
  enum class Action : uint8_t {
    kCreate,
    kDrop,
    kPutDefault,
    kExecute,
    kCreateFunction,
    kDropFunction,
  };
  TextPlace place;
  Action action = Action::kCreate;
  std::string name;
  json::Value version;                   // a string or a number; missing: none was given
  std::string source;                    // kCreate: the Lua between the braces
  std::vector<ExpressionPtr> arguments;  // kExecute
  bool aggregate = false;                // of functions
  bool deterministic = false;            // kCreateFunction
};

// CREATE [DEFAULT] LUA TRIGGER or CONSUMER, and DROP
struct TriggerStatement {
  enum class Action : uint8_t { kCreate, kDrop };
  struct Event {
    std::vector<ColumnName> columns;  // none: all that there are
  };
  struct Source {
    KeyspacePath keyspace;
    std::optional<Event> inserted;
    std::optional<Event> updated;
    std::optional<Event> deleted;
    std::string when;                 // a condition over new, old and type; empty for none
    std::vector<ColumnName> changed;  // an update that changes none of these is left out
  };
  TextPlace place;
  Action action = Action::kCreate;
  bool consumer = false;
  bool is_default = false;
  bool with_sequence = false;
  bool if_clause = false;   // IF NOT EXISTS, IF EXISTS
  bool or_replace = false;  // CREATE OR REPLACE: an existing one keeps its position
  std::string name;
  std::vector<Source> sources;
};

struct Statement {
  TextPlace place;
  std::variant<QueryPtr, InsertStatement, UpdateStatement, DeleteStatement, MergeStatement,
               CreateIndexStatement, DropIndexStatement, AlterIndexStatement, BuildIndexStatement,
               CatalogStatement, CreateTableStatement, DropTableStatement, AlterTableStatement,
               PrepareStatement, ExecuteStatement, ExplainStatement, InferStatement,
               TransactionStatement, StatisticsStatement, ProcedureStatement, TriggerStatement>
      body;
  // The highest $n or number of ?s, and the names of named parameters, in order of appearance.
  uint32_t positional_parameters = 0;
  std::vector<std::string> named_parameters;
};

}  // namespace sluice::query
