#include "query/exec/sort_order.h"

#include "json/compare.h"
#include "query/error.h"

namespace sluice::query {
namespace {

bool Unknown(const Value& value) { return value.is_missing() || value.is_null(); }

}  // namespace

KeyOrder OrderOf(Context& context, const SortKey& key) {
  KeyOrder order{.descending = key.descending};
  if (key.direction != nullptr) {
    const Value direction = key.direction->Get(context);
    const bool desc = direction == Value("desc") || direction == Value("DESC");
    if (!desc && !(direction == Value("asc")) && !(direction == Value("ASC"))) {
      context.Fail(QueryError(QueryCode::kEvaluation,
                              "ORDER BY: expected 'asc' or 'desc' as the direction"));
    }
    order.descending = desc;
  }
  order.nulls_last = key.nulls == SortTerm::Nulls::kDefault ? order.descending
                                                            : key.nulls == SortTerm::Nulls::kLast;
  return order;
}

int CompareKey(const Value& a, const Value& b, const KeyOrder& order) {
  // NULLS FIRST and LAST treat NULL and MISSING as one; the defaults are the order itself.
  if (Unknown(a) != Unknown(b)) return Unknown(a) == order.nulls_last ? 1 : -1;
  const auto compared = json::Compare(a, b);
  if (compared == 0) return 0;
  return (compared < 0) == order.descending ? 1 : -1;
}

}  // namespace sluice::query
