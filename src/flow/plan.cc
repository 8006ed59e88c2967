#include "flow/plan.h"

#include <utility>

namespace sluice::flow {

std::string_view ExecutionName(Execution execution) {
  switch (execution) {
    case Execution::kDecision:
      return "decision";
    case Execution::kResponse:
      return "response";
    case Execution::kEnd:
      return "end";
    case Execution::kSequential:
      return "sequential";
    case Execution::kParallel:
      return "parallel";
    case Execution::kPipeline:
      return "pipeline";
    case Execution::kFork:
      return "fork";
    case Execution::kSink:
      return "sink";
  }
  return "";
}

TaskIndex Flow::Find(std::string_view task_name) const {
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].name == task_name) return static_cast<TaskIndex>(i);
  }
  return kNoTask;
}

FlowSet::FlowSet(std::vector<std::shared_ptr<const Flow>> flows) {
  for (auto& flow : flows) {
    std::string id = flow->id;
    flows_.emplace(std::move(id), std::move(flow));
  }
}

const Flow* FlowSet::Find(std::string_view id) const {
  const auto found = flows_.find(id);
  return found == flows_.end() ? nullptr : found->second.get();
}

}  // namespace sluice::flow
