#include "query/exec/window_frame.h"

#include <algorithm>

#include "json/compare.h"
#include "query/error.h"
#include "query/functions/arithmetic.h"

namespace sluice::query {
namespace {

using Bound = WindowFrame::Bound;
using Unit = WindowFrame::Unit;

}  // namespace

WindowPartition::WindowPartition(const WindowGroup& group, std::span<const KeyOrder> orders,
                                 std::span<const uint32_t> rows, const KeptRows& columns)
    : orders_(orders),
      rows_(rows),
      columns_(columns),
      order_column_(group.first_column + group.partition_by.size()),
      group_of_(rows.size()) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || !ArePeers(i - 1, i)) group_begin_.push_back(static_cast<uint32_t>(i));
    group_of_[i] = static_cast<uint32_t>(group_begin_.size() - 1);
  }
  group_begin_.push_back(static_cast<uint32_t>(rows.size()));
}

bool WindowPartition::ArePeers(size_t a, size_t b) const {
  for (size_t i = 0; i < orders_.size(); ++i) {
    if (!json::Equal(At(a, order_column_ + i), At(b, order_column_ + i))) return false;
  }
  return true;
}

FrameFinder::FrameFinder(const WindowCall& call, const WindowPartition& partition)
    : call_(call), partition_(partition) {
  if (call.frame.unit != Unit::kRange || !(call.frame.start_offset || call.frame.end_offset)) {
    return;
  }
  // Values of one type stand together, whatever the direction.
  while (numbers_begin_ < partition.size() && !partition.Key(numbers_begin_).is_number()) {
    ++numbers_begin_;
  }
  numbers_end_ = numbers_begin_;
  while (numbers_end_ < partition.size() && partition.Key(numbers_end_).is_number()) {
    ++numbers_end_;
  }
}

Frame FrameFinder::Find(Context& context, size_t position) const {
  Frame frame;
  frame.begin = BeginOf(context, position);
  frame.end = EndOf(context, position);
  if (frame.begin >= frame.end) return {};
  Exclude(position, &frame);
  return frame;
}

size_t FrameFinder::BeginOf(Context& context, size_t position) const {
  const FrameOptions& options = call_.frame;
  if (options.start == Bound::kUnboundedPreceding) return 0;
  if (options.start == Bound::kUnboundedFollowing) return partition_.size();
  if (options.start == Bound::kCurrentRow) {
    return options.unit == Unit::kRows ? position : partition_.PeersBegin(position);
  }
  const bool preceding = options.start == Bound::kPreceding;
  if (options.unit == Unit::kRange) {
    const Value& distance = Distance(context, position, *options.start_offset);
    if (!partition_.Key(position).is_number()) return partition_.size();
    return FindKey(position, distance, preceding, Side::kNotBefore);
  }
  const size_t count = Count(context, position, *options.start_offset);
  const bool rows = options.unit == Unit::kRows;
  const size_t from = rows ? position : partition_.GroupOf(position);
  const size_t all = rows ? partition_.size() : partition_.groups();
  if (preceding && count >= from) return 0;
  if (!preceding && count >= all - from) return partition_.size();
  const size_t at = preceding ? from - count : from + count;
  return rows ? at : partition_.GroupBegin(at);
}

size_t FrameFinder::EndOf(Context& context, size_t position) const {
  const FrameOptions& options = call_.frame;
  if (options.end == Bound::kUnboundedFollowing) return partition_.size();
  if (options.end == Bound::kUnboundedPreceding) return 0;
  if (options.end == Bound::kCurrentRow) {
    return options.unit == Unit::kRows ? position + 1 : partition_.PeersEnd(position);
  }
  const bool preceding = options.end == Bound::kPreceding;
  if (options.unit == Unit::kRange) {
    const Value& distance = Distance(context, position, *options.end_offset);
    if (!partition_.Key(position).is_number()) return 0;
    return FindKey(position, distance, preceding, Side::kBehind);
  }
  const size_t count = Count(context, position, *options.end_offset);
  const bool rows = options.unit == Unit::kRows;
  const size_t from = rows ? position : partition_.GroupOf(position);
  const size_t all = rows ? partition_.size() : partition_.groups();
  if (preceding && count > from) return 0;
  if (!preceding && count >= all - from) return partition_.size();
  const size_t at = preceding ? from - count : from + count;
  return rows ? at + 1 : partition_.GroupEnd(at);
}

size_t FrameFinder::Count(Context& context, size_t position, size_t input) const {
  const auto count = WholeNumber(partition_.Input(position, call_, input));
  if (count && *count >= 0) return static_cast<size_t>(*count);
  context.Fail(QueryError(QueryCode::kEvaluation,
                          "{}: the frame's offset must be a whole number that is not negative",
                          call_.text));
  return 0;
}

const Value& FrameFinder::Distance(Context& context, size_t position, size_t input) const {
  static const Value kNone(0);
  const Value& distance = partition_.Input(position, call_, input);
  if (distance.is_number() && json::Compare(distance, kNone) >= 0) return distance;
  context.Fail(QueryError(QueryCode::kEvaluation,
                          "{}: the frame's offset must be a number that is not negative",
                          call_.text));
  return kNone;
}

size_t FrameFinder::FindKey(size_t position, const Value& distance, bool preceding,
                            Side side) const {
  const bool descending = partition_.order().descending;
  const Value& key = partition_.Key(position);
  const Value target = preceding != descending ? Subtract(key, distance) : Add(key, distance);
  size_t begin = numbers_begin_;
  size_t end = numbers_end_;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    const int compared = CompareKey(partition_.Key(middle), target, partition_.order());
    const bool is_before = side == Side::kNotBefore ? compared < 0 : compared <= 0;
    (is_before ? begin : end) = is_before ? middle + 1 : middle;
  }
  return begin;
}

void FrameFinder::Exclude(size_t position, Frame* frame) const {
  switch (call_.frame.exclude) {
    case WindowFrame::Exclude::kNoOthers:
      return;
    case WindowFrame::Exclude::kCurrentRow:
      frame->out_begin = position;
      frame->out_end = position + 1;
      break;
    case WindowFrame::Exclude::kTies:
      frame->kept = position;
      [[fallthrough]];
    case WindowFrame::Exclude::kGroup:
      frame->out_begin = partition_.PeersBegin(position);
      frame->out_end = partition_.PeersEnd(position);
      break;
  }
  // Only rows in the frame can be excluded from it.
  frame->out_begin = std::clamp(frame->out_begin, frame->begin, frame->end);
  frame->out_end = std::clamp(frame->out_end, frame->begin, frame->end);
}

}  // namespace sluice::query
