#include "flow_engine/task.h"

#include <utility>

#include "outbox/flow_request.h"

namespace sluice::flow_engine {

Status CommitTask(db::Database& database, const TaskInput& input, const TaskOutput& output,
                  db::Commit commit) {
  // Flows that the function starts belong to its trace.
  if (input.trace != nullptr && outbox::HasFlowRequest(commit)) {
    RETURN_IF_ERROR(outbox::SetFlowRequestTrace(TraceParentOf(*input.trace), &commit));
  }
  if (input.sink != nullptr) return input.sink->Commit(output, std::move(commit));
  return database.Apply(std::move(commit)).status;
}

json::Value HeadersWithOrigin(const TaskInput& input) {
  json::Value headers = input.headers;
  const auto set = [&](std::string_view name, std::string_view value) {
    if (value.empty()) {
      headers.Remove(name);
    } else {
      headers.Set(name, value);
    }
  };
  set("my_route", input.route);
  set("my_correlation_id", input.cid);
  set("my_trace_id", input.trace_id);
  return headers;
}

bool ReadsOrigin(std::string_view code) { return code.find("my_") != code.npos; }

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

}  // namespace sluice::flow_engine
