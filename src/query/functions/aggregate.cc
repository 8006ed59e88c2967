// The accumulators. Whole numbers are summed exactly, in 128 bits, and only the result becomes a
// double when no int64 can hold it; doubles are summed with a compensation (Neumaier), variances by
// Welford's method, so that neither the order of rows nor large means cost digits.

#include "query/functions/aggregate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "json/compare.h"
#include "query/functions/arguments.h"
#include "query/functions/arithmetic.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

// --- counts ---

template <bool (*Counts)(const Value&)>
class CountAccumulator final : public Accumulator {
 public:
  void Add(const Value& value) override { count_ += Counts(value) ? 1 : 0; }
  void Remove(const Value& value) override { count_ -= Counts(value) ? 1 : 0; }
  void Merge(Accumulator& other) override {
    count_ += static_cast<CountAccumulator&>(other).count_;
  }
  Value Finish(FunctionContext&) override { return count_; }

 private:
  int64_t count_ = 0;
};

bool Always(const Value&) { return true; }
bool IsNumber(const Value& value) { return value.is_number(); }

// --- sums ---

class SumAccumulator : public Accumulator {
 public:
  void Add(const Value& value) override { Change(value, 1); }
  void Remove(const Value& value) override { Change(value, -1); }
  void Merge(Accumulator& other) override {
    auto& from = static_cast<SumAccumulator&>(other);
    count_ += from.count_;
    whole_ += from.whole_;
    doubles_ += from.doubles_;
    AddDouble(from.sum_);
    lost_ += from.lost_;
    nans_ += from.nans_;
    positive_infinities_ += from.positive_infinities_;
    negative_infinities_ += from.negative_infinities_;
    decimals_ += from.decimals_;
    exact_ = query::Add(exact_, from.exact_);
  }
  Value Finish(FunctionContext&) override { return Sum(); }

 protected:
  int64_t count() const { return count_; }

  Value Sum() const {
    if (count_ == 0) return nullptr;
    if (doubles_ > 0) return DoubleSum();
    const bool fits = whole_ >= std::numeric_limits<int64_t>::min() &&
                      whole_ <= std::numeric_limits<int64_t>::max();
    const Value whole =
        fits ? Value(static_cast<int64_t>(whole_)) : Value(static_cast<double>(whole_));
    return decimals_ > 0 ? query::Add(whole, exact_) : whole;
  }

 private:
  void Change(const Value& value, int sign) {
    if (value.is_int()) {
      whole_ += static_cast<__int128>(value.AsInt()) * sign;
    } else if (value.is_double()) {
      ChangeDouble(value.AsDouble(), sign);
    } else if (value.is_decimal()) {
      decimals_ += sign;
      exact_ = sign > 0 ? query::Add(exact_, value) : Subtract(exact_, value);
    } else {
      return;
    }
    count_ += sign;
  }

  // What is not finite is counted, so that it can be taken out again.
  void ChangeDouble(double value, int sign) {
    doubles_ += sign;
    if (std::isnan(value)) {
      nans_ += sign;
    } else if (std::isinf(value)) {
      (value > 0 ? positive_infinities_ : negative_infinities_) += sign;
    } else {
      AddDouble(sign * value);
    }
    if (doubles_ == 0) sum_ = lost_ = 0;
  }

  void AddDouble(double value) {
    const double sum = sum_ + value;
    lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
    sum_ = sum;
  }

  double DoubleSum() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (nans_ > 0 || (positive_infinities_ > 0 && negative_infinities_ > 0)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (positive_infinities_ > 0) return kInfinity;
    if (negative_infinities_ > 0) return -kInfinity;
    const double rest = static_cast<double>(whole_) + exact_.ToDouble();
    // A sum that overflowed has no compensation to speak of.
    return std::isfinite(sum_) ? sum_ + (lost_ + rest) : sum_ + rest;
  }

  int64_t count_ = 0;
  __int128 whole_ = 0;
  int64_t doubles_ = 0;
  double sum_ = 0;
  double lost_ = 0;  // by rounding in sum_
  int64_t nans_ = 0;
  int64_t positive_infinities_ = 0;
  int64_t negative_infinities_ = 0;
  int64_t decimals_ = 0;
  Value exact_ = 0;
};

class AverageAccumulator final : public SumAccumulator {
 public:
  Value Finish(FunctionContext&) override {
    const Value sum = Sum();
    return sum.is_null() ? sum : Value(sum.ToDouble() / static_cast<double>(count()));
  }
};

// --- extremes ---

enum class End : uint8_t { kLeast, kGreatest };

template <End end>
class ExtremeAccumulator final : public Accumulator {
 public:
  void Add(const Value& value) override {
    if (!IsKnown(value)) return;
    if (best_.is_null() || Better(value)) best_ = value;
  }
  void Merge(Accumulator& other) override { Add(static_cast<ExtremeAccumulator&>(other).best_); }
  Value Finish(FunctionContext&) override { return best_; }
  size_t bytes() const override { return ApproximateBytes(best_); }

 private:
  bool Better(const Value& value) const {
    const auto order = json::Compare(value, best_);
    return end == End::kLeast ? order < 0 : order > 0;
  }

  Value best_ = nullptr;
};

// The same with all values in order, so that they can be taken out again.
template <End end>
class OrderedAccumulator final : public Accumulator {
 public:
  void Add(const Value& value) override {
    if (IsKnown(value)) ++values_[value];
  }
  void Remove(const Value& value) override {
    const auto found = values_.find(value);
    if (found != values_.end() && --found->second == 0) values_.erase(found);
  }
  void Merge(Accumulator& other) override {
    for (const auto& [value, count] : static_cast<OrderedAccumulator&>(other).values_) {
      values_[value] += count;
    }
  }
  Value Finish(FunctionContext&) override {
    if (values_.empty()) return nullptr;
    return end == End::kLeast ? values_.begin()->first : values_.rbegin()->first;
  }

 private:
  std::map<Value, size_t, json::ValueLess> values_;  // how often each is there
};

// --- what needs all values ---

class CollectingAccumulator : public Accumulator {
 public:
  void Merge(Accumulator& other) override {
    auto& from = static_cast<CollectingAccumulator&>(other);
    values_.insert(values_.end(), std::make_move_iterator(from.values_.begin()),
                   std::make_move_iterator(from.values_.end()));
    bytes_ += from.bytes_;
    from.values_.clear();
    from.bytes_ = 0;
  }
  size_t bytes() const override { return bytes_; }

 protected:
  void Keep(const Value& value) {
    values_.push_back(value);
    bytes_ += 2 * sizeof(Value) + ApproximateBytes(value);  // the vector may have room for more
  }
  std::vector<Value>& values() { return values_; }

 private:
  std::vector<Value> values_;
  size_t bytes_ = 0;
};

class ArrayAccumulator final : public CollectingAccumulator {
 public:
  void Add(const Value& value) override {
    if (!value.is_missing()) Keep(value);
  }
  Value Finish(FunctionContext& context) override {
    if (values().empty() || !context.Allow(values().size() * sizeof(Value))) return nullptr;
    std::vector<Value> sorted = values();
    std::ranges::stable_sort(sorted, json::ValueLess());
    return Value::Array(std::move(sorted));
  }
};

class MedianAccumulator final : public CollectingAccumulator {
 public:
  void Add(const Value& value) override {
    if (value.is_number()) Keep(value);
  }
  Value Finish(FunctionContext&) override {
    auto& all = values();
    if (all.empty()) return nullptr;
    const auto middle = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end(), json::ValueLess());
    if (all.size() % 2 == 1) return *middle;
    const Value& below = *std::max_element(all.begin(), middle, json::ValueLess());
    return NumberOf(query::Add(below, *middle).ToDouble() / 2);
  }
};

// --- variances ---

class Moments {
 public:
  void Add(double value) {
    ++count_;
    const double distance = value - mean_;
    mean_ += distance / static_cast<double>(count_);
    squares_ += distance * (value - mean_);
  }
  void Merge(const Moments& other) {
    if (other.count_ == 0) return;
    const auto mine = static_cast<double>(count_);
    const auto theirs = static_cast<double>(other.count_);
    const double distance = other.mean_ - mean_;
    count_ += other.count_;
    mean_ += distance * theirs / (mine + theirs);
    squares_ += other.squares_ + distance * distance * mine * theirs / (mine + theirs);
  }
  int64_t count() const { return count_; }
  // The sum of squared distances from the mean.
  double squares() const { return squares_; }

 private:
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// What a single number has: no spread, or none that could be told.
enum class Lone : uint8_t { kZero, kNull };
enum class Divisor : uint8_t { kAll, kAllButOne };
enum class Measure : uint8_t { kVariance, kDeviation };

template <Measure measure, Divisor divisor, Lone lone>
class SpreadAccumulator final : public Accumulator {
 public:
  void Add(const Value& value) override {
    if (value.is_number()) moments_.Add(value.ToDouble());
  }
  void Merge(Accumulator& other) override {
    moments_.Merge(static_cast<SpreadAccumulator&>(other).moments_);
  }
  Value Finish(FunctionContext&) override {
    if (moments_.count() == 0) return nullptr;
    if (moments_.count() == 1 && lone == Lone::kNull) return nullptr;
    if (moments_.count() == 1) return 0;
    const int64_t over = moments_.count() - (divisor == Divisor::kAllButOne ? 1 : 0);
    const double variance = moments_.squares() / static_cast<double>(over);
    return NumberOf(measure == Measure::kVariance ? variance : std::sqrt(variance));
  }

 private:
  Moments moments_;
};

// --- the table ---

template <typename T>
std::unique_ptr<Accumulator> Make() {
  static_assert(sizeof(T) <= kMaxAccumulatorBytes);
  return std::make_unique<T>();
}

template <Measure measure>
using Sample = SpreadAccumulator<measure, Divisor::kAllButOne, Lone::kNull>;
template <Measure measure>
using SampleOrZero = SpreadAccumulator<measure, Divisor::kAllButOne, Lone::kZero>;
template <Measure measure>
using Population = SpreadAccumulator<measure, Divisor::kAll, Lone::kZero>;

constexpr AggregateFunction kAggregates[] = {
    {"array_agg", Make<ArrayAccumulator>},
    {"avg", Make<AverageAccumulator>, true},
    {"count", Make<CountAccumulator<IsKnown>>, true},
    {"count_star", Make<CountAccumulator<Always>>, true},
    {"countn", Make<CountAccumulator<IsNumber>>, true},
    {"max", Make<ExtremeAccumulator<End::kGreatest>>, false, false,
     Make<OrderedAccumulator<End::kGreatest>>},
    {"mean", Make<AverageAccumulator>, true},
    {"median", Make<MedianAccumulator>},
    {"min", Make<ExtremeAccumulator<End::kLeast>>, false, false,
     Make<OrderedAccumulator<End::kLeast>>},
    {"stddev", Make<SampleOrZero<Measure::kDeviation>>, false, true},
    {"stddev_pop", Make<Population<Measure::kDeviation>>, false, true},
    {"stddev_samp", Make<Sample<Measure::kDeviation>>, false, true},
    {"sum", Make<SumAccumulator>, true},
    {"var_pop", Make<Population<Measure::kVariance>>, false, true},
    {"var_samp", Make<Sample<Measure::kVariance>>, false, true},
    {"variance", Make<SampleOrZero<Measure::kVariance>>, false, true},
    {"variance_pop", Make<Population<Measure::kVariance>>, false, true},
    {"variance_samp", Make<Sample<Measure::kVariance>>, false, true},
};

constexpr std::string_view kWindowFunctions[] = {
    "cume_dist", "dense_rank", "first_value",  "lag",  "last_value",      "lead",
    "nth_value", "ntile",      "percent_rank", "rank", "ratio_to_report", "row_number",
};

}  // namespace

const AggregateFunction* FindAggregate(std::string_view name) {
  const auto* found = std::ranges::find(kAggregates, name, &AggregateFunction::name);
  return found == std::end(kAggregates) ? nullptr : found;
}

bool IsWindowFunction(std::string_view name) {
  return std::ranges::find(kWindowFunctions, name) != std::end(kWindowFunctions);
}

std::vector<std::string_view> AggregateNames() {
  std::vector<std::string_view> names;
  for (const AggregateFunction& function : kAggregates) {
    if (function.name != "count_star") names.push_back(function.name);  // COUNT(*)
  }
  return names;
}

std::vector<std::string_view> WindowFunctionNames() {
  return {std::begin(kWindowFunctions), std::end(kWindowFunctions)};
}

}  // namespace sluice::query
