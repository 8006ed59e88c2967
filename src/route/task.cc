#include "route/task.h"

#include <utility>

#include "queue/flow_request.h"

namespace sluice::route {

Status CommitTask(db::Database& database, const TaskInput& input, const TaskOutput& output,
                  db::Commit commit) {
  // Flows that the function starts belong to its trace.
  if (input.trace != nullptr && queue::HasFlowRequest(commit)) {
    RETURN_IF_ERROR(queue::SetFlowRequestTrace(TraceParentOf(*input.trace), &commit));
  }
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
