// An aggregate over successive frames. The common part of two frames is kept if the function can
// remove values again, or if the next frame only grows. State of one run, on its thread.
#pragma once

#include <memory>
#include <unordered_map>

#include "json/compare.h"
#include "query/exec/window_frame.h"

namespace sluice::query {

class SlidingAggregate {
 public:
  SlidingAggregate(Context& context, const WindowCall& call, const WindowPartition& partition);

  Value Over(const Frame& frame);

 private:
  void MoveTo(size_t begin, size_t end);
  void Restart(size_t at);
  void Add(size_t position) { Change(position, true); }
  void Remove(size_t position) { Change(position, false); }
  void Change(size_t position, bool add);

  Context& context_;
  const WindowCall& call_;
  const WindowPartition& partition_;
  std::unique_ptr<Accumulator> (*const make_)();  // unless a user's function does it
  const bool removable_;                          // values can be taken out again
  std::unique_ptr<Accumulator> accumulator_;
  std::unordered_map<Value, size_t, json::ValueHash> distinct_;  // how many rows have the value
  size_t begin_ = 0;  // the accumulator has the rows from here
  size_t end_ = 0;    // to before here
  bool known_ = false;
  Frame last_frame_;
  Value last_;
};

}  // namespace sluice::query
