#include "route/task.h"

#include <utility>

namespace sluice::route {

Status CommitTask(db::Database& database, const TaskInput& input, const TaskOutput& output,
                  db::Commit commit) {
  if (input.sink != nullptr) return input.sink->Commit(output, std::move(commit));
  return database.Apply(std::move(commit)).status;
}

TaskOutput TaskOutput::Failure(const Status& status) {
  switch (status.code()) {
    case Code::kInvalidArgument:
      return Failure(400, status.message());
    case Code::kNotFound:
      return Failure(404, status.message());
    case Code::kTimeout:
      return Failure(408, status.message());
    case Code::kAlreadyExists:
    case Code::kConflict:
      return Failure(409, status.message());
    case Code::kOverloaded:
    case Code::kUnavailable:
      return Failure(503, status.message());
    default:
      return Failure(500, status.message());
  }
}

}  // namespace sluice::route
