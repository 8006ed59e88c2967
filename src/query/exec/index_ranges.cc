// Spans of values into ranges of encoded parts. All rows whose leading parts are equal begin with
// the same bytes, so equality is a prefix and a bound a longer one. A descending part turns its
// bounds round.
#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "json/compare.h"
#include "json/key_encoding.h"
#include "query/exec/scans.h"

namespace sluice::query {
namespace {

using Prefixes = std::vector<std::string>;

bool Unknown(const Value& value) { return value.is_missing() || value.is_null(); }

// Appends one encoded value; false when it is nested too deep to be in an index.
bool Append(const Value& value, const db::IndexPart& part, std::string* out) {
  const auto direction =
      part.descending ? json::Direction::kDescending : json::Direction::kAscending;
  return json::AppendKeyPart(value, direction, out).ok();
}

// The values that a leading part may have, each once.
std::vector<Value> Alternatives(Context& context, const SpanExpr::Equal& equal) {
  Value value = equal.value->Get(context);
  if (!equal.any_of) return Unknown(value) ? std::vector<Value>() : std::vector<Value>{value};
  std::vector<Value> values;
  for (const Value& item : value.items()) {
    if (!Unknown(item)) values.push_back(item);
  }
  std::ranges::sort(values, json::ValueLess());
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
  return values;
}

// The range of the part after a prefix. False when it is empty.
bool Bound(Context& context, const SpanExpr& span, const db::IndexPart& part,
           const std::string& prefix, db::IndexRange* range) {
  // The bounds of the wanted values, in the part's own direction.
  std::string least = prefix;
  const bool from_null = part.descending || span.with_null;
  if (!Append(from_null ? Value(nullptr) : Value(false), part, &least)) return false;
  if (part.descending && span.with_null) least = PrefixEnd(least);
  range->from = part.descending ? prefix : least;
  range->to = part.descending ? least : PrefixEnd(prefix);
  const auto apply = [&](const BoundExpr& bound, bool is_low) {
    if (bound.value == nullptr) return true;
    const Value value = bound.value->Get(context);
    if (Unknown(value)) return false;
    std::string place = prefix;
    if (!Append(value, part, &place)) return false;
    const bool starts = is_low != part.descending;
    // Behind all rows with the value itself, or before them.
    const bool behind = starts ? !bound.inclusive : bound.inclusive;
    if (behind) place = PrefixEnd(place);
    (starts ? range->from : range->to) = std::move(place);
    return true;
  };
  if (!apply(span.low, true) || !apply(span.high, false)) return false;
  return range->to.empty() || range->from < range->to;
}

bool IsScalar(Context& context, const ExprPtr& expr) {
  if (expr == nullptr) return true;
  Value scratch;
  const Value& value = expr->Eval(context, scratch);
  return value.is_bool() || value.is_int() || value.is_double() || value.is_string();
}

}  // namespace

bool HasScalarValues(Context& context, const SpanExpr& span) {
  return IsScalar(context, span.low.value) && IsScalar(context, span.high.value) &&
         std::ranges::all_of(span.equal, [&](const SpanExpr::Equal& equal) {
           return equal.any_of || IsScalar(context, equal.value);
         });
}

std::vector<db::IndexRange> RangesOf(Context& context, const SpanExpr& span,
                                     const db::IndexDefinition& definition) {
  Prefixes prefixes{""};
  for (size_t i = 0; i < span.equal.size(); ++i) {
    Prefixes longer;
    for (const Value& value : Alternatives(context, span.equal[i])) {
      for (const std::string& prefix : prefixes) {
        std::string extended = prefix;
        if (!Append(value, definition.parts[i], &extended)) continue;
        if (!context.Charge(extended.size())) return {};
        longer.push_back(std::move(extended));
      }
    }
    prefixes = std::move(longer);
  }
  std::ranges::sort(prefixes);
  std::vector<db::IndexRange> ranges;
  for (const std::string& prefix : prefixes) {
    db::IndexRange range{.from = prefix, .to = PrefixEnd(prefix)};
    if (span.bounded &&
        !Bound(context, span, definition.parts[span.equal.size()], prefix, &range)) {
      continue;
    }
    ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace sluice::query
