// What a trial found wrong: where the file says otherwise, and what came instead.
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

// One problem for each place where the two differ: a value, a missing field, one too many.
void Compare(const json::Value& expected, const json::Value& got, const std::string& where,
             Problems* problems);
// Each text that is expected must be a part of the line in its place, and there must be no others.
void CompareLines(const json::Value& expected, const std::vector<std::string>& got,
                  const std::string& where, Problems* problems);

}  // namespace sluice::function::trial
