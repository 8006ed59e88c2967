#include "query/exec/window_functions.h"

#include <optional>

#include "query/error.h"
#include "query/exec/sliding_aggregate.h"
#include "query/functions/arithmetic.h"

namespace sluice::query {
namespace {

bool Unknown(const Value& value) { return value.is_missing() || value.is_null(); }

// An argument that counts: a whole number, at least `least`.
std::optional<uint64_t> CountArgument(Context& context, const WindowCall& call, const Value& value,
                                      int64_t least) {
  const auto count = WholeNumber(value);
  if (count && *count >= least) return static_cast<uint64_t>(*count);
  context.Fail(QueryError(QueryCode::kEvaluation, "{}: expected a whole number from {} up",
                          call.text, least));
  return std::nullopt;
}

class CallOnPartition {
 public:
  CallOnPartition(Context& context, const WindowCall& call, const WindowPartition& partition)
      : context_(context), call_(call), partition_(partition), frames_(call, partition) {
    if (call.aggregate != nullptr) aggregate_.emplace(context, call, partition);
  }

  Value Compute(size_t position) {
    switch (call_.function) {
      case WindowFunction::kRowNumber:
        return Whole(position + 1);
      case WindowFunction::kRank:
        return Whole(partition_.PeersBegin(position) + 1);
      case WindowFunction::kDenseRank:
        return Whole(partition_.GroupOf(position) + 1);
      case WindowFunction::kPercentRank:
        if (partition_.size() == 1) return 0;
        return NumberOf(Double(partition_.PeersBegin(position)) / Double(partition_.size() - 1));
      case WindowFunction::kCumeDist:
        return NumberOf(Double(partition_.PeersEnd(position)) / Double(partition_.size()));
      case WindowFunction::kNtile:
        return Ntile(position);
      case WindowFunction::kLag:
      case WindowFunction::kLead:
        return Neighbour(position);
      case WindowFunction::kFirstValue:
        return Nth(frames_.Find(context_, position), 1, false);
      case WindowFunction::kLastValue:
        return Nth(frames_.Find(context_, position), 1, true);
      case WindowFunction::kNthValue:
        return NthValue(position);
      case WindowFunction::kRatioToReport:
        return Ratio(position);
      case WindowFunction::kAggregate:
        return aggregate_->Over(frames_.Find(context_, position));
    }
    return nullptr;
  }

 private:
  static Value Whole(size_t number) { return static_cast<int64_t>(number); }
  static double Double(size_t number) { return static_cast<double>(number); }
  const Value& Argument(size_t position, size_t argument) const {
    return partition_.Input(position, call_, argument);
  }

  // The first tiles are larger by one when the rows don't divide evenly.
  Value Ntile(size_t position) {
    const auto tiles = CountArgument(context_, call_, Argument(position, 0), 1);
    if (!tiles) return nullptr;
    const size_t small = partition_.size() / *tiles;
    const size_t larger = partition_.size() % *tiles;
    const size_t in_larger = larger * (small + 1);
    if (position < in_larger) return Whole(position / (small + 1) + 1);
    return Whole(larger + (position - in_larger) / small + 1);
  }

  Value Neighbour(size_t position) {
    uint64_t offset = 1;
    if (call_.arguments > 1) {
      const auto given = CountArgument(context_, call_, Argument(position, 1), 0);
      if (!given) return nullptr;
      offset = *given;
    }
    if (offset == 0) return Argument(position, 0);
    const bool back = call_.function == WindowFunction::kLag;
    const size_t there = back ? position : partition_.size() - 1 - position;
    if (!call_.ignore_nulls && offset <= there) {
      return Argument(back ? position - offset : position + offset, 0);
    }
    for (size_t i = 1; call_.ignore_nulls && i <= there && context_.Tick(); ++i) {
      const Value& value = Argument(back ? position - i : position + i, 0);
      if (!Unknown(value) && --offset == 0) return value;
    }
    return call_.arguments > 2 ? Argument(position, 2) : Value(nullptr);
  }

  Value NthValue(size_t position) {
    const auto number = CountArgument(context_, call_, Argument(position, 1), 1);
    if (!number) return nullptr;
    return Nth(frames_.Find(context_, position), *number, call_.from_last);
  }

  Value Nth(const Frame& frame, uint64_t number, bool from_last) {
    const size_t length = frame.end - frame.begin;
    if (!call_.ignore_nulls && !frame.HasHoles()) {
      if (number > length) return nullptr;
      return Argument(from_last ? frame.end - number : frame.begin + number - 1, 0);
    }
    for (size_t i = 0; i < length && context_.Tick(); ++i) {
      const size_t at = from_last ? frame.end - 1 - i : frame.begin + i;
      if (!frame.Has(at) || (call_.ignore_nulls && Unknown(Argument(at, 0)))) continue;
      if (--number == 0) return Argument(at, 0);
    }
    return nullptr;
  }

  Value Ratio(size_t position) {
    const Value sum = aggregate_->Over(frames_.Find(context_, position));
    const Value& part = Argument(position, 0);
    if (!part.is_number() || !sum.is_number() || sum.ToDouble() == 0) return nullptr;
    return NumberOf(part.ToDouble() / sum.ToDouble());
  }

  Context& context_;
  const WindowCall& call_;
  const WindowPartition& partition_;
  const FrameFinder frames_;
  std::optional<SlidingAggregate> aggregate_;
};

}  // namespace

void ComputeWindowCall(Context& context, const WindowCall& call, const WindowPartition& partition,
                       const SetResult& set) {
  CallOnPartition computed(context, call, partition);
  for (size_t i = 0; i < partition.size() && context.Tick(); ++i) set(i, computed.Compute(i));
}

}  // namespace sluice::query
