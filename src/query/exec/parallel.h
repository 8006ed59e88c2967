// A scan divided among threads. A part is a range of the keyspace's keys; each thread has a context
// and operators of its own, with which it reads one part after another. Parts are put together in
// their order, which is the order in which one thread would have read: rows, errors and warnings
// are those of a scan that is not divided.
#pragma once

#include <cstddef>

#include "query/exec/context.h"
#include "query/exec/operator.h"

namespace sluice::query {

// The consumer of the rows of all parts.
class PartReader {
 public:
  virtual ~PartReader() = default;
  // Before everything else: how many parts there are.
  virtual void Begin(size_t parts) = 0;
  // Reads a part, whose operators are open. Called for different parts at the same time. Returns
  // how much of the memory charged to `context` the part's result keeps.
  virtual size_t Read(size_t part, Operator& input, Context& context) = 0;
  // Adds a part's result to the whole: one at a time, in order, from any of the threads. `context`
  // has been charged for the part; at the end the statement's context is charged for the whole
  // result.
  virtual void Merge(size_t part, Context& context) = 0;
};

// False when the caller has to read the plan's rows alone: they can't be divided, are too few,
// other statements use all threads, or several threads need more memory than there is. In the last
// case some parts have been merged: forget them, without a Release.
bool ReadInParts(Context& context, const PlanNode& plan, PartReader& reader);

}  // namespace sluice::query
