// The problems of a set of flows: all errors and warnings, not only the first, each with its id,
// file, line and column.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace sluice::flow {

struct Problem {
  enum class Severity : uint8_t { kError, kWarning };

  Severity severity = Severity::kError;
  Status status;

  // "file:line:column: error: message [id]", one line for a terminal.
  std::string ToString() const;
};

// Collects problems while files are read. At most kMost are kept; the rest is counted.
class Problems {
 public:
  static constexpr size_t kMost = 1000;

  void AddError(Status status);
  void AddWarning(Status status);

  bool has_errors() const { return errors_ > 0; }
  size_t errors() const { return errors_; }
  size_t warnings() const { return warnings_; }
  // In the order of files and places in them.
  std::vector<Problem> Sorted() const;

 private:
  void Add(Problem::Severity severity, Status status);

  std::vector<Problem> problems_;
  size_t errors_ = 0;
  size_t warnings_ = 0;
};

}  // namespace sluice::flow
