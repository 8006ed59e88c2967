#include "query/exec/sliding_aggregate.h"

#include "query/exec/user_call.h"

namespace sluice::query {
namespace {

constexpr size_t kBytesPerStep = 64;

}  // namespace

SlidingAggregate::SlidingAggregate(Context& context, const WindowCall& call,
                                   const WindowPartition& partition)
    : context_(context),
      call_(call),
      partition_(partition),
      make_(call.aggregate->make_removable != nullptr && !call.frame.OnlyGrows()
                ? call.aggregate->make_removable
                : call.aggregate->make),
      removable_(call.aggregate->removable || make_ != call.aggregate->make) {
  Restart(0);
}

Value SlidingAggregate::Over(const Frame& frame) {
  if (known_ && frame == last_frame_) return last_;
  if (frame.HasHoles() && !removable_) {
    Restart(frame.begin);
    for (size_t i = frame.begin; i < frame.end && context_.Tick(); ++i) {
      if (frame.Has(i)) Add(i);
    }
    last_ = accumulator_->Finish(context_);
    Restart(frame.begin);
  } else {
    MoveTo(frame.begin, frame.end);
    for (size_t i = frame.out_begin; i < frame.out_end && context_.Tick(); ++i) {
      if (!frame.Has(i)) Remove(i);
    }
    last_ = accumulator_->Finish(context_);
    for (size_t i = frame.out_begin; i < frame.out_end && context_.Tick(); ++i) {
      if (!frame.Has(i)) Add(i);
    }
  }
  context_.Tick(accumulator_->bytes() /
                kBytesPerStep);  // an accumulator that keeps values has walked over them
  last_frame_ = frame;
  known_ = true;
  return last_;
}

void SlidingAggregate::MoveTo(size_t begin, size_t end) {
  const bool grows = begin <= begin_ && end >= end_;
  const bool overlaps = begin < end_ && end > begin_;
  if (!overlaps || !(grows || removable_)) Restart(begin);
  while (end_ < end && context_.Tick()) Add(end_++);
  while (begin_ > begin && context_.Tick()) Add(--begin_);
  while (end_ > end && context_.Tick()) Remove(--end_);
  while (begin_ < begin && context_.Tick()) Remove(begin_++);
}

void SlidingAggregate::Restart(size_t at) {
  accumulator_ = call_.user_function == nullptr
                     ? make_()
                     : MakeUserAccumulator(context_, *call_.user_function);
  distinct_.clear();
  begin_ = end_ = at;
}

void SlidingAggregate::Change(size_t position, bool add) {
  static const Value kNothing;
  if (call_.filter && !partition_.Input(position, call_, *call_.filter).AsBool()) return;
  const Value& value = call_.arguments == 0 ? kNothing : partition_.Input(position, call_, 0);
  if (call_.distinct) {
    size_t& rows = distinct_[value];
    // Only the first and the last row with a value count.
    if (add ? rows++ > 0 : --rows > 0) return;
  }
  if (add) {
    accumulator_->Add(value);
  } else {
    accumulator_->Remove(value);
  }
}

}  // namespace sluice::query
