#include "query/bind/scope.h"

#include <algorithm>

#include <strings.h>

namespace sluice::query {
namespace {

bool SameName(std::string_view a, std::string_view b, bool ignore_case) {
  if (a.size() != b.size()) return false;
  return ignore_case ? strncasecmp(a.data(), b.data(), a.size()) == 0 : a == b;
}

}  // namespace

VariableId Variables::Add(std::string name, Variable::Kind kind) {
  all.push_back({.name = std::move(name), .kind = kind, .keyspace = 0, .keyspace_name = ""});
  return static_cast<VariableId>(all.size() - 1);
}

VariableId Variables::AddDocument(std::string name, const db::KeyspaceInfo& keyspace) {
  all.push_back({.name = std::move(name),
                 .kind = Variable::Kind::kDocument,
                 .keyspace = keyspace.id,
                 .keyspace_name = keyspace.name.ToString(),
                 .table = keyspace.table});
  return static_cast<VariableId>(all.size() - 1);
}

VariableId Binder::Scope::Find(std::string_view name, bool ignore_case) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    for (auto entry = scope->names.rbegin(); entry != scope->names.rend(); ++entry) {
      if (SameName(entry->name, name, ignore_case)) return entry->variable;
    }
  }
  return 0;
}

VariableId Binder::Scope::FindExplicit(std::string_view name, bool ignore_case) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    for (auto entry = scope->names.rbegin(); entry != scope->names.rend(); ++entry) {
      if (!entry->implicit && SameName(entry->name, name, ignore_case)) return entry->variable;
    }
  }
  return 0;
}

bool Binder::Scope::Declares(std::string_view name) const {
  return std::ranges::any_of(names, [&](const Name& entry) { return entry.name == name; });
}

const Binder::Scope* Binder::Scope::WithFrom() const {
  const Scope* scope = this;
  while (scope != nullptr && !scope->has_from) scope = scope->outer;
  return scope;
}

std::string ImplicitName(const Expression& expression) {
  // a.[b] is named as b would be.
  if (expression.kind == ExprKind::kFieldOf) return ImplicitName(*expression.args[1]);
  const bool path = expression.kind == ExprKind::kName || expression.kind == ExprKind::kField;
  return path ? expression.name : "";
}

ExpressionPtr MakeVariable(const Variables& variables, VariableId variable,
                           const TextPlace& place) {
  auto expression = std::make_unique<Expression>();
  expression->kind = ExprKind::kVariable;
  expression->place = place;
  expression->variable = variable;
  expression->name = variables[variable].name;
  return expression;
}

}  // namespace sluice::query
