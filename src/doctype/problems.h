// The problems of a set of files: all errors and warnings, not only the first, each with its id,
// file, line and column.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/status.h"

namespace sluice::doctype {

struct Problems {
  // More than these are not kept.
  static constexpr size_t kMost = 1000;

  std::vector<Status> errors;
  std::vector<Status> warnings;

  bool ok() const { return errors.empty(); }
  void AddError(Status status) {
    if (errors.size() < kMost) errors.push_back(std::move(status));
  }
  void AddWarning(Status status) {
    if (warnings.size() < kMost) warnings.push_back(std::move(status));
  }
};

}  // namespace sluice::doctype
