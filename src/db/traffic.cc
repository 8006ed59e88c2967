#include "db/traffic.h"

#include <utility>

#include "json/parse.h"
#include "json/value.h"

namespace sluice::db {
namespace {

// Adds one, unless the name is new and there are too many.
void Count(const std::string& name, std::map<std::string, uint64_t>* counts, bool* complete) {
  if (counts->size() >= Traffic::kMaxFields && !counts->contains(name)) {
    *complete = false;
    return;
  }
  ++(*counts)[name];
}

}  // namespace

Traffic::Runs Traffic::Enter(StatementUse use) {
  for (KeyspaceUse& each : use.reads) {
    if (each.paths.size() <= kMaxPathsPerStatement) continue;
    each.paths.clear();
    each.whole = true;
  }
  const auto seen = seen_.Lock();
  const auto found = seen->statements.find(use);
  if (found != seen->statements.end()) return found->second;
  if (seen->statements.size() >= kMaxStatements) {
    seen->all_statements = false;
    return nullptr;
  }
  const auto runs = std::make_shared<std::atomic<uint64_t>>(0);
  seen->statements.emplace(std::move(use), runs);
  return runs;
}

void Traffic::Updated(KeyspaceId keyspace, const FieldChanges& changes) {
  const std::set<std::string>& fields = changes.changed;
  if (fields.empty()) return;
  const auto seen = seen_.Lock();
  if (seen->updates.size() >= kMaxKeyspaces && !seen->updates.contains(keyspace)) return;
  Updates& of = seen->updates[keyspace];
  ++of.seen;
  for (const std::string& field : fields) Count(field, &of.changed, &of.complete);
  if (fields.size() == 1) Count(*fields.begin(), &of.alone, &of.complete);
  for (const std::string& field : changes.longer) Count(field, &of.longer, &of.complete);
}

KeyspaceTraffic Traffic::Of(KeyspaceId keyspace) const {
  KeyspaceTraffic traffic;
  const auto seen = seen_.Lock();
  traffic.complete = seen->all_statements;
  for (const auto& [use, counter] : seen->statements) {
    const uint64_t runs = counter->load(std::memory_order_relaxed);
    if (runs == 0) continue;
    bool reads = false;
    bool whole = false;
    std::set<std::string> paths;
    for (const KeyspaceUse& each : use.reads) {
      if (each.keyspace != keyspace) continue;
      reads = true;
      whole = whole || each.whole;
      paths.insert(each.paths.begin(), each.paths.end());
    }
    if (reads) traffic.statements += runs;
    if (whole) traffic.whole += runs;
    for (const std::string& path : paths) traffic.paths[path] += runs;
    for (const JoinUse& join : use.joins) {
      if (join.from == keyspace || join.to == keyspace) traffic.joins[join] += runs;
    }
  }
  if (const auto found = seen->updates.find(keyspace); found != seen->updates.end()) {
    traffic.updates = found->second.seen;
    traffic.changed = found->second.changed;
    traffic.alone = found->second.alone;
    traffic.longer = found->second.longer;
    traffic.complete = traffic.complete && found->second.complete;
  }
  return traffic;
}

FieldChanges ChangedFields(std::string_view before, std::string_view after) {
  FieldChanges changes;
  const auto old = json::Parse(before);
  const auto now = json::Parse(after);
  if (!old || !now || !old->is_object() || !now->is_object()) return changes;
  for (const json::Field& field : now->fields()) {
    const json::Value& had = (*old)[field.name()];
    if (had == field.value) continue;
    changes.changed.emplace(field.name());
    if (had.is_array() && field.value.is_array() && field.value.size() > had.size()) {
      changes.longer.emplace(field.name());
    }
  }
  for (const json::Field& field : old->fields()) {
    if ((*now)[field.name()].is_missing()) changes.changed.emplace(field.name());
  }
  return changes;
}

}  // namespace sluice::db
