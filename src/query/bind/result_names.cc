#include "query/bind/result_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "query/bind/scope.h"
#include "query/error.h"

namespace sluice::query {
namespace {

std::string NameOf(const ResultTerm& term) {
  return term.alias.empty() ? ImplicitName(*term.expression) : term.alias;
}

void UseNames(QueryBody& body, const std::vector<std::string>& names) {
  if (auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    UseNames((*operation)->left, names);
    return UseNames((*operation)->right, names);
  }
  if (auto* query = std::get_if<QueryPtr>(&body)) return UseNames((*query)->body, names);
  Projection& projection = std::get<std::unique_ptr<SelectBlock>>(body)->projection;
  if (projection.raw || std::ranges::any_of(projection.terms, &ResultTerm::star)) return;
  for (size_t i = 0; i < std::min(names.size(), projection.terms.size()); ++i) {
    projection.terms[i].alias = names[i];
  }
}

}  // namespace

std::optional<std::vector<std::string>> ResultNames(const QueryBody& body) {
  if (const auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    return ResultNames((*operation)->left);
  }
  if (const auto* query = std::get_if<QueryPtr>(&body)) return ResultNames((*query)->body);
  const Projection& projection = std::get<std::unique_ptr<SelectBlock>>(body)->projection;
  if (projection.raw || !projection.exclude.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const ResultTerm& term : projection.terms) {
    if (term.star) return std::nullopt;
    names.push_back(term.alias);
  }
  return names;
}

void NameByOrder(QueryBody& body, std::vector<std::string>* names) {
  if (auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    NameByOrder((*operation)->left, names);
    return NameByOrder((*operation)->right, names);
  }
  if (auto* query = std::get_if<QueryPtr>(&body)) {
    if ((*query)->order_by.empty()) NameByOrder((*query)->body, names);
    return;
  }
  Projection& projection = std::get<std::unique_ptr<SelectBlock>>(body)->projection;
  if (projection.raw || std::ranges::any_of(projection.terms, &ResultTerm::star)) return;
  const bool first = names->empty();
  for (size_t i = 0; i < projection.terms.size(); ++i) {
    ResultTerm& term = projection.terms[i];
    std::string name = NameOf(term);
    if (name.empty()) name = fmt::format("${}", i + 1);
    const bool twice = first && std::ranges::find(*names, name) != names->end();
    if (twice) name = fmt::format("{} {}", name, i + 1);
    if (first) names->push_back(name);
    term.alias = i < names->size() ? (*names)[i] : name;
  }
}

std::vector<std::string> WrittenNames(const QueryBody& body) {
  if (const auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    return WrittenNames((*operation)->left);
  }
  if (const auto* query = std::get_if<QueryPtr>(&body)) return WrittenNames((*query)->body);
  const Projection& projection = std::get<std::unique_ptr<SelectBlock>>(body)->projection;
  if (projection.raw || std::ranges::any_of(projection.terms, &ResultTerm::star)) return {};
  std::vector<std::string> names;
  for (const ResultTerm& term : projection.terms) names.push_back(NameOf(term));
  return names;
}

void NameByFirst(QueryBody& body) {
  if (!std::holds_alternative<std::unique_ptr<SetOperation>>(body)) return;
  if (const auto names = ResultNames(body)) UseNames(body, *names);
}

void NumberRepeated(Projection& projection) {
  std::vector<std::string> names;
  for (ResultTerm& term : projection.terms) {
    if (term.star) continue;
    const std::string stem = term.alias;
    for (int n = 1; std::ranges::find(names, term.alias) != names.end(); ++n) {
      term.alias = fmt::format("{}:{}", stem, n);
    }
    names.push_back(term.alias);
  }
}

Result<ExpressionPtr> TermAtPosition(const Expression& position, const Projection& projection) {
  if (position.kind != ExprKind::kLiteral || !position.value.is_int()) return ExpressionPtr();
  const int64_t n = position.value.AsInt();
  const auto count = static_cast<int64_t>(projection.terms.size());
  if (n >= 1 && n <= count && !projection.terms[static_cast<size_t>(n - 1)].star) {
    return Clone(*projection.terms[static_cast<size_t>(n - 1)].expression);
  }
  return Unexpected(
      AtPlace(QueryError(QueryCode::kPlan, "there is no column {}: the query has {}", n, count),
              position.place));
}

}  // namespace sluice::query
