#include "procedure/trigger/compare.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice::procedure {
namespace {

using Effect = query::DefinitionChange::Effect;

std::set<db::KeyspaceId> KeyspacesOf(const TriggerDefinition& definition) {
  std::set<db::KeyspaceId> ids;
  for (const TriggerSource& source : definition.sources) ids.insert(source.keyspace);
  return ids;
}

std::string EventsOf(const TriggerSource& source) {
  std::vector<std::string_view> events;
  if (source.inserted) events.emplace_back("INSERT");
  if (source.updated) events.emplace_back("UPDATE");
  if (source.deleted) events.emplace_back("DELETE");
  return fmt::format("{}", fmt::join(events, ", "));
}

std::string NamesOf(const TriggerDefinition& definition) {
  std::vector<std::string> names;
  for (const TriggerSource& source : definition.sources) names.push_back(source.name);
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

// What differs, in words; empty for nothing.
std::string Difference(const TriggerSource& present, const TriggerSource& wanted) {
  std::vector<std::string> parts;
  if (EventsOf(present) != EventsOf(wanted)) {
    parts.push_back(
        fmt::format("is for {}, and the statement says {}", EventsOf(present), EventsOf(wanted)));
  } else if (present.inserted != wanted.inserted || present.updated != wanted.updated ||
             present.deleted != wanted.deleted) {
    parts.emplace_back("has other columns in its events");
  }
  if (!query::SameExpression(present.when, wanted.when)) parts.emplace_back("has another WHEN");
  if (present.changed != wanted.changed) parts.emplace_back("has other columns in CHANGED");
  if (parts.empty()) return "";
  return fmt::format("on {} it {}", wanted.name, fmt::join(parts, ", and "));
}

std::string KindOf(const TriggerDefinition& definition) {
  return definition.consumer ? "consumer" : "trigger";
}

std::string TextOf(query::TriggerStatement statement) {
  query::Statement whole;
  whole.body = std::move(statement);
  return query::ToText(whole);
}

query::DefinitionChange MakeAnew(const TriggerDefinition& present, const TriggerDefinition& wanted,
                                 query::TriggerStatement statement) {
  query::TriggerStatement drop;
  drop.action = query::TriggerStatement::Action::kDrop;
  drop.consumer = present.consumer;
  drop.name = present.name;
  statement.or_replace = false;
  return {Effect::kByHand,
          fmt::format("it is a {} on {}, and the statement says a {} on {}; dropping it loses the "
                      "events that wait for it",
                      KindOf(present), NamesOf(present), KindOf(wanted), NamesOf(wanted)),
          {TextOf(std::move(drop)), TextOf(std::move(statement))}};
}

}  // namespace

bool CanReplace(const TriggerDefinition& present, const TriggerDefinition& wanted) {
  return present.consumer == wanted.consumer && KeyspacesOf(present) == KeyspacesOf(wanted);
}

query::DefinitionState CompareTrigger(const TriggerDefinition& present,
                                      const TriggerDefinition& wanted,
                                      const query::TriggerStatement& statement) {
  query::DefinitionState state{.exists = true, .changes = {}};
  if (!CanReplace(present, wanted)) {
    state.changes.push_back(MakeAnew(present, wanted, statement));
    return state;
  }
  std::vector<std::string> parts;
  for (const TriggerSource& source : wanted.sources) {
    std::string difference = Difference(*present.Find(source.keyspace), source);
    if (!difference.empty()) parts.push_back(std::move(difference));
  }
  if (present.with_sequence != wanted.with_sequence) {
    parts.push_back(fmt::format("it is {} SEQUENCE", present.with_sequence ? "WITH" : "WITHOUT"));
  }
  if (parts.empty()) return state;
  query::TriggerStatement replace = statement;
  replace.or_replace = true;
  replace.if_clause = false;
  state.changes.push_back(
      {Effect::kReplaces, fmt::format("{}", fmt::join(parts, "; ")), {TextOf(std::move(replace))}});
  return state;
}

}  // namespace sluice::procedure
