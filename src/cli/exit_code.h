// The exit codes of the process. They are part of the interface: docs/reference/cli.md lists them.
#pragma once

#include "base/status.h"

namespace sluice::cli {

enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,
  kUsage = 2,
  kNotFound = 3,
  kConflict = 4,
  kUnauthorised = 5,
  kUnavailable = 6,
  kInvalidData = 7,
  kIo = 8,
  kDamaged = 9,
  kIncomplete = 10,
};

// The ids of errors that mean "done in part".
inline constexpr std::string_view kImportIncompleteId = "import.incomplete";
inline constexpr std::string_view kExportIncompleteId = "export.incomplete";
inline constexpr std::string_view kSqlIncompleteId = "sql.incomplete";
inline constexpr std::string_view kMigrationIncompleteId = "migration.incomplete";
// A test of a function that did not end as it should, and one that can't be run.
inline constexpr std::string_view kTestFailedId = "trial.failed";
inline constexpr std::string_view kTestUnusableId = "trial.unusable";
// `flow lint` found errors; the flow of `flow run` answered with an error.
inline constexpr std::string_view kLintFailedId = "flow.lint_failed";
inline constexpr std::string_view kRunFailedId = "flow.run_failed";
// The id of a wrong command line.
inline constexpr std::string_view kUsageId = "cli.usage";

ExitCode ExitCodeOf(const Status& status);

// Advice for the user that is not in the message; may be empty.
std::string_view HintOf(const Status& status);

}  // namespace sluice::cli
