// Hints that a plan does not follow, and why: the statement's warnings, and a part of EXPLAIN.
#include <algorithm>
#include <utility>

#include "query/plan/planner.h"

namespace sluice::query {
namespace {

std::string_view HintText(JoinMethodHint hint) {
  switch (hint) {
    case JoinMethodHint::kHashBuild:
      return "USE HASH (BUILD)";
    case JoinMethodHint::kHashProbe:
      return "USE HASH (PROBE)";
    default:
      return "USE NL";
  }
}

}  // namespace

void Planner::AddHintNote(std::string note) {
  if (std::ranges::find(hint_notes_, note) == hint_notes_.end()) {
    hint_notes_.push_back(std::move(note));
  }
}

void Planner::NoteHint(const FromTerm& term, std::string_view hint, std::string_view why) {
  AddHintNote(fmt::format("{} of {} is not followed: {}", hint, term.alias, why));
}

// The binder has left the hints that it can't read, or that name no term of FROM.
void Planner::NoteHintComments(const SelectBlock& block) {
  for (const std::string& hint : block.hints) {
    AddHintNote(fmt::format(
        "/*+ {} */ is not followed: expected INDEX(alias index ...), USE_NL(alias ...) or "
        "USE_HASH(alias/BUILD ...) with aliases of this FROM",
        hint));
  }
}

void Planner::NoteJoinHint(const FromTerm& term, std::string_view why) {
  if (term.join_method != JoinMethodHint::kNone) NoteHint(term, HintText(term.join_method), why);
}

void Planner::NoteHashHint(const FromTerm& term, std::string_view why) {
  if (WantsHash(term)) NoteJoinHint(term, why);
}

// Called for a keyspace that is read without the indexes that its hint names.
void Planner::NoteIndexHint(const FromTerm& term) {
  const db::KeyspaceInfo* keyspace = catalog_.Find(variables_[term.variable].keyspace);
  for (const IndexHint& hint : term.use_index) {
    if (hint.name.empty() || hint.name == db::kPrimaryIndexName || keyspace == nullptr) continue;
    const std::string text = fmt::format("USE INDEX ({})", hint.name);
    const auto index = std::ranges::find(keyspace->indexes, hint.name,
                                         [](const auto& each) { return each->definition().name; });
    if (index == keyspace->indexes.end()) {
      NoteHint(term, text, "there is no such index");
    } else if (!(*index)->CheckReady().ok()) {
      NoteHint(term, text, (*index)->CheckReady().message());
    } else if (!(*index)->definition().primary) {
      NoteHint(term, text, "no condition is about the index's first key");
    }
  }
}

}  // namespace sluice::query
