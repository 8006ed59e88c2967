// Counts the rows and the time of each operator of a plan. Only plans made for it count, so others
// pay nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "query/exec/operator.h"

namespace sluice::query {

// The counts of one run, of all its threads together.
class Profile {
 public:
  explicit Profile(size_t operators) : operators_(operators) {}

  struct Counts {
    std::atomic<uint64_t> opened = 0;
    std::atomic<uint64_t> rows = 0;
    std::atomic<uint64_t> ns = 0;  // the operator's inputs included
  };
  Counts& operator[](size_t number) { return operators_[number]; }

  // The plan as Explain shows it, with "#stats" in each node that counts: "#itemsOut", "#opens" if
  // there was more than one, and "execTime" without that of its inputs. Times of threads add up.
  Value Show(const PlanNode& root) const;

 private:
  Value Show(const Value& node, uint64_t* inclusive_ns) const;

  std::vector<Counts> operators_;
};

// The same rows, counted under this number.
PlanPtr MakeProfiled(PlanPtr plan, size_t number);

}  // namespace sluice::query
