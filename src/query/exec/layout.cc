#include "query/exec/layout.h"

#include <algorithm>
#include <utility>

#include "query/bind/walk.h"

namespace sluice::query {
namespace {

bool IsPrefix(const json::Path& prefix, const json::Path& path) {
  return prefix.steps().size() <= path.steps().size() &&
         std::equal(prefix.steps().begin(), prefix.steps().end(), path.steps().begin());
}

}  // namespace

std::optional<PathBelow> AsPathBelow(const Expression& expression) {
  PathBelow path;
  const Expression* step = &expression;
  for (;; step = step->args[0].get()) {
    if (step->kind == ExprKind::kField && !step->ignore_case) {
      path.steps.emplace_back(step->name);
    } else if (step->kind == ExprKind::kElement && step->args[1]->kind == ExprKind::kLiteral &&
               step->args[1]->value.is_int()) {
      path.steps.emplace_back(step->args[1]->value.AsInt());
    } else {
      break;
    }
    if (path.steps.size() > json::kMaxPathSteps) return std::nullopt;
  }
  std::ranges::reverse(path.steps);
  path.base = step;
  return path;
}

std::optional<VariablePath> AsVariablePath(const Expression& expression) {
  std::optional<PathBelow> path = AsPathBelow(expression);
  if (!path || path->base->kind != ExprKind::kVariable) return std::nullopt;
  return VariablePath{.variable = path->base->variable, .path = json::Path(std::move(path->steps))};
}

std::optional<MetaReference> AsMeta(const Expression& expression) {
  const Expression* call = &expression;
  std::string field;
  if (call->kind == ExprKind::kField && !call->ignore_case) {
    field = call->name;
    call = call->args[0].get();
  }
  if (call->kind != ExprKind::kCall || call->name != "meta" || call->args.size() != 1 ||
      call->args[0]->kind != ExprKind::kVariable) {
    return std::nullopt;
  }
  return MetaReference{.variable = call->args[0]->variable, .field = std::move(field)};
}

Layout::Layout(const Variables& variables)
    : slots_(static_cast<Slot>(variables.all.size())), source_of_(variables.all.size(), kNoSource) {
  for (VariableId id = 1; id < variables.all.size(); ++id) {
    if (!variables.IsDocument(id)) continue;
    source_of_[id] = sources_.size();
    sources_.push_back({.variable = id});
  }
}

SourceLayout* Layout::FindSource(VariableId variable) {
  const size_t index = variable < source_of_.size() ? source_of_[variable] : kNoSource;
  return index == kNoSource ? nullptr : &sources_[index];
}

const SourceLayout* Layout::FindSource(VariableId variable) const {
  return const_cast<Layout*>(this)->FindSource(variable);
}

void Layout::Use(const Expression& expression, GroupNumber group) {
  if (const auto meta = AsMeta(expression)) {
    if (SourceLayout* source = FindSource(meta->variable)) {
      (meta->field == "id" ? source->uses_id : source->uses_meta) = true;
    }
    return;
  }
  if (auto path = AsVariablePath(expression)) {
    if (SourceLayout* source = FindSource(path->variable)) {
      UsePath(*source, std::move(path->path), group);
    }
    return;
  }
  ForEachChild(expression, [&](const Expression& child) { Use(child, group); });
  if (expression.query != nullptr) UseQuery(*expression.query);
}

void Layout::UseQuery(const Query& query) {
  ForEachRoot(const_cast<Query&>(query),
              [&](ExpressionPtr& root) { Use(*root, GroupNumber::kRest); });
}

void Layout::UsePath(SourceLayout& source, json::Path path, GroupNumber group) {
  if (path.empty()) {
    source.whole = true;
    source.asked_whole = true;
    return;
  }
  source.asked.push_back(path);
  for (const PathGroup& known : source.groups) {
    for (const PathSlot& slot : known.paths) {
      if (IsPrefix(slot.path, path)) return;
    }
  }
  PathGroup& mine = source.groups[static_cast<size_t>(group)];
  // Earlier paths below the new one are read from its value.
  std::erase_if(mine.paths, [&](const PathSlot& slot) { return IsPrefix(path, slot.path); });
  mine.paths.push_back({.path = std::move(path), .slot = NewSlot()});
}

void Layout::Finish() {
  for (SourceLayout& source : sources_) {
    if (source.whole) source.groups[1].paths.clear();
    for (PathGroup& group : source.groups) {
      std::vector<json::Path> paths;
      for (const PathSlot& slot : group.paths) paths.push_back(slot.path);
      if (!paths.empty()) group.extractor = std::make_shared<json::Extractor>(paths);
    }
  }
}

}  // namespace sluice::query
