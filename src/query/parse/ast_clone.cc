#include <algorithm>
#include <iterator>

#include "query/parse/ast.h"

namespace sluice::query {
namespace {

ExpressionPtr CloneOf(const ExpressionPtr& expression) {
  return expression ? Clone(*expression) : nullptr;
}

template <typename T, typename CloneOne>
std::vector<T> CloneAll(const std::vector<T>& list, const CloneOne& clone) {
  std::vector<T> copies;
  copies.reserve(list.size());
  std::ranges::transform(list, std::back_inserter(copies), clone);
  return copies;
}

std::vector<ExpressionPtr> CloneOf(const std::vector<ExpressionPtr>& list) {
  return CloneAll(list, [](const ExpressionPtr& expression) { return CloneOf(expression); });
}

std::vector<SortTerm> CloneOf(const std::vector<SortTerm>& list) {
  return CloneAll(list, [](const SortTerm& term) {
    return SortTerm{.expression = CloneOf(term.expression),
                    .descending = term.descending,
                    .direction = CloneOf(term.direction),
                    .nulls = term.nulls};
  });
}

std::vector<RangeBinding> CloneOf(const std::vector<RangeBinding>& list) {
  return CloneAll(list, [](const RangeBinding& binding) {
    return RangeBinding{.name = binding.name,
                        .value = binding.value,
                        .within = binding.within,
                        .source = CloneOf(binding.source),
                        .name_id = binding.name_id,
                        .value_id = binding.value_id};
  });
}

std::vector<NamedExpression> CloneOf(const std::vector<NamedExpression>& list) {
  return CloneAll(list, [](const NamedExpression& named) {
    return NamedExpression{.place = named.place,
                           .name = named.name,
                           .expression = CloneOf(named.expression),
                           .variable = named.variable};
  });
}

Comprehension CloneOf(const Comprehension& from) {
  return {.bindings = CloneOf(from.bindings),
          .name = CloneOf(from.name),
          .body = CloneOf(from.body),
          .when = CloneOf(from.when)};
}

WindowSpec CloneOf(const WindowSpec& from) {
  WindowSpec window{.base = from.base,
                    .partition_by = CloneOf(from.partition_by),
                    .order_by = CloneOf(from.order_by),
                    .frame = std::nullopt};
  if (from.frame) {
    window.frame = WindowFrame{.unit = from.frame->unit,
                               .start = from.frame->start,
                               .start_offset = CloneOf(from.frame->start_offset),
                               .end = from.frame->end,
                               .end_offset = CloneOf(from.frame->end_offset),
                               .exclude = from.frame->exclude};
  }
  return window;
}

FromTerm CloneOf(const FromTerm& from) {
  FromTerm term;
  term.place = from.place;
  term.expression = CloneOf(from.expression);
  term.keyspace = from.keyspace;
  term.alias = from.alias;
  term.explicit_alias = from.explicit_alias;
  term.lateral = from.lateral;
  if (from.use_keys) {
    term.use_keys =
        KeyHint{.keys = CloneOf(from.use_keys->keys), .validate = from.use_keys->validate};
  }
  term.use_index = from.use_index;
  term.join_method = from.join_method;
  term.variable = from.variable;
  return term;
}

JoinClause CloneOf(const JoinClause& from) {
  return {.kind = from.kind,
          .type = from.type,
          .comma = from.comma,
          .term = CloneOf(from.term),
          .on = CloneOf(from.on),
          .on_keys = CloneOf(from.on_keys),
          .on_key = CloneOf(from.on_key),
          .on_key_for = from.on_key_for,
          .nest_variable = from.nest_variable};
}

Projection CloneOf(const Projection& from) {
  Projection projection;
  projection.distinct = from.distinct;
  projection.raw = from.raw;
  projection.terms = CloneAll(from.terms, [](const ResultTerm& term) {
    return ResultTerm{.place = term.place,
                      .expression = CloneOf(term.expression),
                      .star = term.star,
                      .alias = term.alias};
  });
  projection.exclude = CloneOf(from.exclude);
  return projection;
}

GroupClause CloneOf(const GroupClause& from) {
  return {.keys = CloneOf(from.keys),
          .group_as = from.group_as,
          .letting = CloneOf(from.letting),
          .having = CloneOf(from.having),
          .group_as_variable = from.group_as_variable};
}

std::unique_ptr<SelectBlock> CloneOf(const SelectBlock& from) {
  auto block = std::make_unique<SelectBlock>();
  block->place = from.place;
  block->hints = from.hints;
  block->projection = CloneOf(from.projection);
  if (from.from) {
    block->from = FromClause{
        .first = CloneOf(from.from->first),
        .joins = CloneAll(from.from->joins, [](const JoinClause& join) { return CloneOf(join); })};
  }
  block->let = CloneOf(from.let);
  block->where = CloneOf(from.where);
  if (from.group) block->group = CloneOf(*from.group);
  block->windows = CloneAll(from.windows, [](const NamedWindow& window) {
    return NamedWindow{.name = window.name, .spec = CloneOf(window.spec)};
  });
  block->aggregates = CloneOf(from.aggregates);
  block->window_calls = CloneOf(from.window_calls);
  return block;
}

struct BodyCloner {
  QueryBody operator()(const std::unique_ptr<SelectBlock>& block) const { return CloneOf(*block); }
  QueryBody operator()(const std::unique_ptr<SetOperation>& from) const {
    auto operation = std::make_unique<SetOperation>();
    operation->op = from->op;
    operation->all = from->all;
    operation->left = std::visit(*this, from->left);
    operation->right = std::visit(*this, from->right);
    return operation;
  }
  QueryBody operator()(const QueryPtr& query) const { return Clone(*query); }
};

}  // namespace

ExpressionPtr Clone(const Expression& from) {
  auto copy = std::make_unique<Expression>();
  copy->kind = from.kind;
  copy->place = from.place;
  copy->name = from.name;
  copy->value = from.value;
  copy->args = CloneOf(from.args);
  copy->ignore_case = from.ignore_case;
  copy->distinct = from.distinct;
  copy->quoted = from.quoted;
  copy->or_text = from.or_text;
  copy->in_parentheses = from.in_parentheses;
  copy->height = from.height;
  if (from.comprehension) {
    copy->comprehension = std::make_unique<Comprehension>(CloneOf(*from.comprehension));
  }
  if (from.query) copy->query = Clone(*from.query);
  copy->filter = CloneOf(from.filter);
  if (from.window) copy->window = std::make_unique<WindowSpec>(CloneOf(*from.window));
  copy->ignore_nulls = from.ignore_nulls;
  copy->from_last = from.from_last;
  copy->variable = from.variable;
  copy->user_function = from.user_function;
  return copy;
}

QueryPtr Clone(const Query& from) {
  auto query = std::make_unique<Query>();
  query->place = from.place;
  query->recursive = from.recursive;
  query->with = CloneAll(from.with, [](const CommonTable& table) {
    return CommonTable{.place = table.place,
                       .name = table.name,
                       .expression = CloneOf(table.expression),
                       .options = table.options,
                       .cycle = CloneOf(table.cycle),
                       .variable = table.variable};
  });
  query->body = std::visit(BodyCloner{}, from.body);
  query->order_by = CloneOf(from.order_by);
  query->limit = CloneOf(from.limit);
  query->offset = CloneOf(from.offset);
  query->result_variable = from.result_variable;
  query->correlated = from.correlated;
  return query;
}

WindowSpec Clone(const WindowSpec& window) { return CloneOf(window); }

}  // namespace sluice::query
