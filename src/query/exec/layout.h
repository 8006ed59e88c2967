// The slots of a statement's variables in the frame of a run. Every variable has a slot. For the
// alias of a document only the paths that the statement uses are read from its text: each path has
// a slot of its own, and the whole document has one only if something needs it. The paths of a
// document form two groups, each read in one pass when one of its slots is first asked for: those
// of the filter at the scan, and the others, which most documents never need. The planner changes
// it (paths until Finish, slots until the plan is made); then it is immutable and shared by all
// runs of the plan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "json/extract.h"
#include "json/path.h"
#include "query/bind/binder.h"
#include "query/parse/ast.h"

namespace sluice::query {

using Slot = uint32_t;

struct PathSlot {
  json::Path path;
  Slot slot = 0;
};

struct PathGroup {
  std::vector<PathSlot> paths;
  std::shared_ptr<const json::Extractor> extractor;  // of `paths`, in their order
};

enum class GroupNumber : uint8_t { kFilter = 0, kRest = 1 };

struct SourceLayout {
  VariableId variable = 0;
  PathGroup groups[2];
  bool whole = false;  // the document itself is in the variable's slot, with the rest
  // The paths that the statement's expressions use; the empty path for the document itself.
  std::vector<json::Path> asked;
  bool asked_whole = false;
  bool uses_id = false;    // META().id
  bool uses_meta = false;  // the other parts of META()
};

class Layout {
 public:
  // Slots of all variables; documents' sources in the order of their variables.
  explicit Layout(const Variables& variables);

  Slot NewSlot() { return slots_++; }
  Slot slots() const { return slots_; }
  // Null for a variable that is no document.
  SourceLayout* FindSource(VariableId variable);
  const SourceLayout* FindSource(VariableId variable) const;
  size_t SourceIndex(VariableId variable) const { return source_of_[variable]; }
  const std::vector<SourceLayout>& sources() const { return sources_; }

  // Records the paths of documents that the expression uses. Call it for filters first, then for
  // the rest.
  void Use(const Expression& expression, GroupNumber group);
  // Makes the extractors. No more uses after it.
  void Finish();

  // A number for each subquery, under which its state is kept while the statement runs.
  uint32_t NewSubquery() { return subqueries_++; }
  uint32_t subqueries() const { return subqueries_; }

 private:
  void UsePath(SourceLayout& source, json::Path path, GroupNumber group);
  void UseQuery(const Query& query);

  static constexpr size_t kNoSource = SIZE_MAX;
  Slot slots_;
  uint32_t subqueries_ = 0;
  std::vector<SourceLayout> sources_;
  std::vector<size_t> source_of_;  // by variable
};

// `base.a.b[0]`: fields and constant positions below a base, which is any other expression. Empty
// if there are more than json::kMaxPathSteps.
struct PathBelow {
  const Expression* base = nullptr;
  std::vector<json::PathStep> steps;
};
std::optional<PathBelow> AsPathBelow(const Expression& expression);

// `variable.a.b[0]`: fields and constant positions below a variable.
struct VariablePath {
  VariableId variable = 0;
  json::Path path;
};
std::optional<VariablePath> AsVariablePath(const Expression& expression);

// META(variable) or META(variable).id and kin; `field` is empty for META() itself.
struct MetaReference {
  VariableId variable = 0;
  std::string field;
};
std::optional<MetaReference> AsMeta(const Expression& expression);

}  // namespace sluice::query
