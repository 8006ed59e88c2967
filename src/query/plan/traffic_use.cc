// What a plan uses of documents, entered once per plan into db/traffic.h for the advice on document
// types: the paths that it reads of each keyspace, and the joins between keyspaces. Tables do not
// count: their columns are no subject of advice.
#include "query/plan/traffic_use.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace sluice::query {
namespace {

// The documents that a condition uses: those of which it uses paths, and those of which it uses the
// key.
struct Sides {
  std::vector<VariablePath> paths;
  std::vector<VariableId> keys;
};

void Collect(const Expression& expression, const Variables& variables, Sides* sides) {
  if (const auto meta = AsMeta(expression)) {
    if (meta->field == "id") sides->keys.push_back(meta->variable);
    return;
  }
  if (auto path = AsVariablePath(expression)) {
    if (variables.IsDocument(path->variable)) sides->paths.push_back(std::move(*path));
    return;
  }
  ForEachChild(expression, [&](const Expression& child) { Collect(child, variables, sides); });
}

bool Counts(const db::Catalog& catalog, db::KeyspaceId keyspace) {
  const db::KeyspaceInfo* const info = catalog.Find(keyspace);
  return info != nullptr && info->table == nullptr;
}

db::JoinUse Use(const Variables& variables, VariableId from, const json::Path& path,
                VariableId to) {
  return {.from = variables[from].keyspace, .path = UsedPath(path), .to = variables[to].keyspace};
}

// The side whose path is compared with the other's key refers to the other. If no key is compared,
// the earlier FROM term refers to the later one.
void AddJoins(const Variables& variables, VariableId joined, const Sides& sides,
              std::set<db::JoinUse>* joins) {
  const bool with_joined = std::ranges::count(sides.keys, joined) > 0;
  const bool own_path = std::ranges::any_of(
      sides.paths, [&](const VariablePath& side) { return side.variable == joined; });
  for (const VariablePath& side : sides.paths) {
    if (side.variable != joined) {
      if (with_joined || (own_path && sides.keys.empty())) {
        joins->insert(Use(variables, side.variable, side.path, joined));
      }
      continue;
    }
    for (const VariableId key : sides.keys) {
      if (key != joined && variables.IsDocument(key)) {
        joins->insert(Use(variables, joined, side.path, key));
      }
    }
  }
}

}  // namespace

std::string UsedPath(const json::Path& path) {
  std::string text;
  for (const json::PathStep& step : path.steps()) {
    if (!std::holds_alternative<std::string>(step)) {
      text += "[]";
      continue;
    }
    if (!text.empty()) text += '.';
    text += json::Path({step}).ToString();
  }
  return text;
}

std::set<db::JoinUse> JoinsOf(const Variables& variables, VariableId joined,
                              const std::vector<VariableId>& before,
                              const std::vector<Condition>& conditions) {
  std::set<db::JoinUse> joins;
  if (!variables.IsDocument(joined)) return joins;
  for (const Condition& condition : conditions) {
    Sides sides;
    Collect(*condition.expression, variables, &sides);
    AddJoins(variables, joined, sides, &joins);
  }
  // A join without a usable condition (a cross join, a function of both) still says that the two
  // keyspaces are read together.
  if (!joins.empty()) return joins;
  const auto other =
      std::ranges::find_if(before, [&](VariableId each) { return variables.IsDocument(each); });
  if (other != before.end()) joins.insert(Use(variables, *other, {}, joined));
  return joins;
}

std::set<db::JoinUse> KeysJoinOf(const Variables& variables, VariableId joined,
                                 const Expression& keys) {
  std::set<db::JoinUse> joins;
  if (!variables.IsDocument(joined)) return joins;
  Sides sides;
  Collect(keys, variables, &sides);
  sides.keys.push_back(joined);
  AddJoins(variables, joined, sides, &joins);
  return joins;
}

db::StatementUse UseOf(const db::Catalog& catalog, const Variables& variables, const Layout& layout,
                       const std::set<db::JoinUse>& joins) {
  std::map<db::KeyspaceId, db::KeyspaceUse> reads;
  for (const SourceLayout& source : layout.sources()) {
    const db::KeyspaceId keyspace = variables[source.variable].keyspace;
    if (!Counts(catalog, keyspace)) continue;
    db::KeyspaceUse& use = reads[keyspace];
    use.keyspace = keyspace;
    use.whole = use.whole || source.asked_whole;
    for (const json::Path& path : source.asked) use.paths.insert(UsedPath(path));
  }
  db::StatementUse use;
  for (auto& [id, read] : reads) use.reads.push_back(std::move(read));
  for (const db::JoinUse& join : joins) {
    if (Counts(catalog, join.from) && Counts(catalog, join.to)) use.joins.push_back(join);
  }
  return use;
}

}  // namespace sluice::query
