// Functions that users have written: known to statements by name, run by a module above this one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::query {

struct UserFunction {
  std::string name;  // in the case of its CREATE statement
  bool aggregate = false;
  bool deterministic = false;  // the same arguments give the same result
};

// All that there are at a moment. Immutable.
struct UserFunctionTable {
  uint64_t version = 0;  // another one with every change
  // By their names in lower case.
  std::map<std::string, std::shared_ptr<const UserFunction>, std::less<>> functions;

  std::shared_ptr<const UserFunction> Find(std::string_view lower_case) const {
    const auto found = functions.find(lower_case);
    return found == functions.end() ? nullptr : found->second;
  }
};

// An aggregate over one group of rows.
class UserAggregate {
 public:
  virtual ~UserAggregate() = default;
  virtual Status Step(std::vector<json::Value> arguments) = 0;
  virtual Result<json::Value> Final() = 0;
};

// Runs functions for one run of a statement, or for one of the threads of its scan. Belongs to that
// thread, and outlives the aggregates that it started.
class UserFunctionRunner {
 public:
  virtual ~UserFunctionRunner() = default;
  virtual Result<json::Value> Call(const UserFunction& function,
                                   std::vector<json::Value> arguments) = 0;
  virtual Result<std::unique_ptr<UserAggregate>> StartAggregate(const UserFunction& function) = 0;
};

}  // namespace sluice::query
