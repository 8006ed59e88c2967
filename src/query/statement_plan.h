// A statement, ready to run: immutable, shared between runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/traffic.h"
#include "db/types.h"
#include "json/value.h"
#include "query/bind/binder.h"
#include "query/exec/compile.h"
#include "query/exec/operator.h"

namespace sluice::query {

class Run;
class QueryEngine;
struct RunRequest;

enum class StatementKind : uint8_t {
  kSelect,
  kInsert,
  kUpsert,
  kUpdate,
  kDelete,
  kMerge,
  kDefinition,  // CREATE, DROP, ALTER, BUILD
  kPrepare,
  kExecute,
  kExplain,
  kInfer,
  kTransaction,
};
std::string_view KindName(StatementKind kind);

// A column of a SELECT that is one of a table.
struct ResultColumn {
  std::string name;    // in the rows
  std::string table;   // whose it is
  std::string column;  // its name in the table
  db::ColumnType type = db::ColumnType::kInt;
  std::string type_text;  // "cstring(10)"
};

struct StatementPlan {
  std::string text;
  QueryContext context;
  StatementKind kind = StatementKind::kSelect;
  ParameterList parameters;
  Value signature;
  std::vector<ResultColumn> columns;  // of a SELECT; others are left out
  uint64_t catalog_version = 0;
  uint64_t functions_version = 0;
  bool uses_functions = false;  // of users
  // The keyspaces that the statement reads and writes, for the check of permissions.
  std::vector<db::KeyspaceName> reads;
  std::vector<db::KeyspaceName> writes;
  bool administers = false;  // changes the catalog
  bool atomic = false;       // writes to a table: all of it or nothing
  bool one_source = false;   // documents are read in one place, which is opened once

  // For queries and writes: the plan that runs.
  std::shared_ptr<const Layout> layout;
  QueryPlan query;
  size_t counted_operators = 0;         // of a profiled plan
  std::vector<std::string> hint_notes;  // hints that are not followed, and why
  db::Traffic::Runs runs;               // to be counted; may be null
  // Everything else: the statement itself.
  std::shared_ptr<const Statement> statement;

  // EXECUTE counts as read-only: the statement that it runs is checked by itself.
  bool IsReadOnly() const {
    return kind == StatementKind::kSelect || kind == StatementKind::kExplain ||
           kind == StatementKind::kInfer || kind == StatementKind::kPrepare ||
           kind == StatementKind::kExecute;
  }
};

}  // namespace sluice::query
