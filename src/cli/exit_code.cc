#include "cli/exit_code.h"

namespace sluice::cli {

ExitCode ExitCodeOf(const Status& status) {
  if (status.id() == kImportIncompleteId || status.id() == kExportIncompleteId ||
      status.id() == kSqlIncompleteId || status.id() == kMigrationIncompleteId) {
    return ExitCode::kIncomplete;
  }
  if (status.id() == kTestFailedId || status.id() == kLintFailedId || status.id() == kRunFailedId) {
    return ExitCode::kFailure;
  }
  if (status.id() == kUsageId || status.id() == kTestUnusableId) return ExitCode::kUsage;
  switch (status.code()) {
    case Code::kOk:
      return ExitCode::kOk;
    case Code::kInvalidArgument:
    case Code::kTooLarge:
    case Code::kUnsupported:
      return ExitCode::kInvalidData;
    case Code::kNotFound:
      return ExitCode::kNotFound;
    case Code::kAlreadyExists:
    case Code::kConflict:
      return ExitCode::kConflict;
    case Code::kUnauthenticated:
    case Code::kForbidden:
      return ExitCode::kUnauthorised;
    case Code::kOverloaded:
    case Code::kTimeout:
    case Code::kUnavailable:
      return ExitCode::kUnavailable;
    case Code::kNoSpace:
    case Code::kIo:
      return ExitCode::kIo;
    case Code::kCorruption:
      return ExitCode::kDamaged;
    case Code::kCancelled:
    case Code::kInternal:
      return ExitCode::kFailure;
  }
  return ExitCode::kFailure;
}

std::string_view HintOf(const Status& status) {
  struct Hint {
    std::string_view id;
    std::string_view text;
  };
  static constexpr std::string_view kPorts =
      "--server names the admin port, 8091 unless you changed it; 8096 is that of the Eventing "
      "API, 8100 "
      "that of flows";
  static constexpr Hint kHints[] = {
      {kUsageId, "sluice COMMAND --help shows a command's options"},
      {"client.connect", "is the server running? --server or SLUICE_SERVER sets its address"},
      {"cli.bad_answer", kPorts},
      {"http.no_route", kPorts},
      {"storage.in_use",
       "another sluice runs on this data directory: stop it, or choose another "
       "one with --data"},
      {"storage.read_only", "the data directory and its files must be writable for this user"},
      {"http.listen",
       "another program listens there: choose another address with --http, --eventing or --flows; "
       "port 0 picks a free one"},
  };
  for (const Hint& hint : kHints) {
    if (status.id() == hint.id) return hint.text;
  }
  if (status.code() == Code::kUnauthenticated) {
    return "give --user and --password-file, or --token (SLUICE_USER, SLUICE_PASSWORD, "
           "SLUICE_TOKEN)";
  }
  return status.code() == Code::kOverloaded ? "try again in a moment" : "";
}

}  // namespace sluice::cli
