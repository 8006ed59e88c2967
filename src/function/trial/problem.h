// The differences between the expectations of a trial's file and the results.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"

namespace sluice::function::trial {

struct Problem {
  std::string where;  // in the trial's file: expect.documents.shop.k1.total
  std::string message;
};
using Problems = std::vector<Problem>;

// Adds a problem for each place where the two differ: a value, a missing field, an extra field.
void Compare(const json::Value& expected, const json::Value& got, const std::string& where,
             Problems* problems);
// Each expected text must be a part of the line at its position, and there must be no other lines.
void CompareLines(const json::Value& expected, const std::vector<std::string>& got,
                  const std::string& where, Problems* problems);

}  // namespace sluice::function::trial
