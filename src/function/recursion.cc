#include "function/recursion.h"

#include <algorithm>
#include <set>

namespace sluice::function {
namespace {

// The keyspace that a statement names: bucket, or bucket.scope.collection. A name with more parts
// names no keyspace.
db::KeyspaceName KeyspaceOf(const SqlTarget& target) {
  db::KeyspaceName name;
  if (!target.parts.empty()) name.bucket = target.parts[0];
  if (target.parts.size() > 1) name.scope = target.parts[1];
  if (target.parts.size() > 2) name.collection = target.parts[2];
  return name;
}

// Depth first from `at`; the functions on the way back to `goal` are left in `path`.
bool FindWay(const db::KeyspaceName& at, const db::KeyspaceName& goal,
             std::span<const DataFlow> flows, std::string_view skip,
             std::set<db::KeyspaceName>* seen, std::vector<std::string>* path) {
  if (!seen->insert(at).second) return false;
  for (const DataFlow& flow : flows) {
    if (!flow.source.Overlaps(at) || flow.function == skip) continue;
    path->push_back(flow.function);
    for (const db::KeyspaceName& target : flow.targets) {
      if (target.Overlaps(goal) || FindWay(target, goal, flows, skip, seen, path)) return true;
    }
    path->pop_back();
  }
  return false;
}

}  // namespace

DataFlow FlowOf(const Definition& definition, const PreparedSource& source) {
  DataFlow flow{.function = definition.Location(), .source = definition.source};
  for (const BucketBinding& binding : definition.buckets) {
    if (!binding.writable) continue;
    flow.writes_source |= binding.keyspace.Overlaps(definition.source);
    if (binding.keyspace != definition.source) flow.targets.push_back(binding.keyspace);
  }
  for (const EmbeddedStatement& statement : source.statements) {
    for (const SqlTarget& target : statement.targets) {
      const db::KeyspaceName keyspace = KeyspaceOf(target);
      if (keyspace.Overlaps(definition.source)) {
        flow.own_statement = flow.own_statement.value_or(statement.place);
      } else {
        flow.targets.push_back(keyspace);
      }
    }
  }
  return flow;
}

Status CheckStatements(const DataFlow& flow) {
  if (!flow.own_statement) return OkStatus();
  return Error(Code::kInvalidArgument, "function.sql_recursion",
               "line {}, column {}: a SQL++ statement can't write to the function's own source, "
               "{}; use a binding",
               flow.own_statement->line, flow.own_statement->column, flow.source.ToString());
}

Status CheckRecursion(const DataFlow& added, std::span<const DataFlow> deployed) {
  for (const DataFlow& other : deployed) {
    if (added.writes_source && other.writes_source && other.source.Overlaps(added.source) &&
        other.function != added.function) {
      return Error(Code::kConflict, "function.shared_source",
                   "function '{}' already changes the documents of {}; both would run for each "
                   "other's changes without an end",
                   other.function, added.source.ToString());
    }
  }
  for (const db::KeyspaceName& target : added.targets) {
    std::set<db::KeyspaceName> seen;
    std::vector<std::string> path = {added.function};
    if (!FindWay(target, added.source, deployed, added.function, &seen, &path)) continue;
    path.push_back(added.function);
    return Error(Code::kConflict, "function.recursion",
                 "functions would run without an end: {}, by way of {}", fmt::join(path, " -> "),
                 target.ToString());
  }
  return OkStatus();
}

}  // namespace sluice::function
