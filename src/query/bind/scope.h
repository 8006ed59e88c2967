// The names that are in scope at one place of a statement. Belongs to the binder.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/bind/binder.h"

namespace sluice::query {

struct Binder::Scope {
  explicit Scope(Scope* outer) : outer(outer) {}

  struct Name {
    std::string name;
    VariableId variable;
    // It is the name of a keyspace that was given no other: in a FROM clause it is still the
    // keyspace.
    bool implicit = false;
  };

  Scope* outer;
  std::vector<Name> names;
  // The aliases of this block's FROM terms: a bare name may be a field of one of them, and `*`
  // means all of them.
  std::vector<VariableId> sources;
  bool has_from = false;
  // Whose fields bare names are, and whose META() is meant, although there are several sources.
  VariableId main_source = 0;
  std::vector<std::string> tables;  // names of this query's WITH
  // Names that ORDER BY sees first: result terms by their names.
  const Projection* results = nullptr;

  VariableId Find(std::string_view name, bool ignore_case) const;
  // The same without implicit names.
  VariableId FindExplicit(std::string_view name, bool ignore_case) const;
  bool Declares(std::string_view name) const;
  bool HasTable(std::string_view name) const {
    return std::ranges::find(tables, name) != tables.end();
  }
  // The innermost scope with a FROM clause, or null.
  const Scope* WithFrom() const;
};

// The name that a result term has when none was given: the last step of a path, else empty.
std::string ImplicitName(const Expression& expression);
ExpressionPtr MakeVariable(const Variables& variables, VariableId variable, const TextPlace& place);

}  // namespace sluice::query
