// The paths and joins that a statement uses, for advice on document types (db/traffic.h).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "db/catalog.h"
#include "db/traffic.h"
#include "json/path.h"
#include "query/bind/binder.h"
#include "query/exec/layout.h"
#include "query/parse/ast.h"
#include "query/plan/conditions.h"

namespace sluice::query {

// a.b[].c: the position in an array does not matter.
std::string UsedPath(const json::Path& path);

// The paths by which documents of `joined` are found, or by which they refer to those before them.
std::set<db::JoinUse> JoinsOf(const Variables& variables, VariableId joined,
                              const std::vector<VariableId>& before,
                              const std::vector<Condition>& conditions);
// The same where keys are given.
std::set<db::JoinUse> KeysJoinOf(const Variables& variables, VariableId joined,
                                 const Expression& keys);

// Tables and system keyspaces are left out.
db::StatementUse UseOf(const db::Catalog& catalog, const Variables& variables, const Layout& layout,
                       const std::set<db::JoinUse>& joins);

}  // namespace sluice::query
