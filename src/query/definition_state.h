// The differences between the catalog and a CREATE statement. EXPLAIN of a CREATE statement answers
// with them, and `sluice apply` uses that for changed files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/database.h"
#include "json/value.h"
#include "query/bind/binder.h"
#include "query/parse/ast.h"
#include "query/user_functions.h"

namespace sluice::query {

struct DefinitionChange {
  enum class Effect : uint8_t {
    kAdds,      // adds something that is missing; loses nothing
    kReplaces,  // replaces something that differs; loses nothing
    kDrops,     // a key or a constraint that the statement does not name
    kByHand,    // would lose data, or can't be done by statements at all
  };
  Effect effect = Effect::kAdds;
  std::string what;                     // "column 'tenant' is missing"
  std::vector<std::string> statements;  // that do it, in order; may be none
};

struct DefinitionState {
  bool exists = false;
  std::vector<DefinitionChange> changes;  // none when it does not exist, or is just so
};

// `text` is that of the statement. Errors: those of the statement itself, as far as they show
// without carrying it out.
Result<DefinitionState> CompareTable(const db::Database& database,
                                     const CreateTableStatement& statement);
Result<DefinitionState> CompareIndex(const db::Database& database, const QueryContext& context,
                                     const CreateIndexStatement& statement,
                                     const std::string& text);
DefinitionState CompareFunction(const UserFunctionTable& functions,
                                const ProcedureStatement& statement, const std::string& text);

// {"exists": true, "changes": [{"effect": "adds", "what": ..., "statements": [...]}]}
json::Value ToJson(const DefinitionState& state);

// Conditions and defaults are the same when they are read as the same expression.
bool SameExpression(std::string_view a, std::string_view b);

}  // namespace sluice::query
