// Checks of the whole flow: unknown names, unreachable tasks, flows that can't end.
#include <algorithm>
#include <set>
#include <utility>

#include "base/nearest.h"
#include "flow/draft.h"

namespace sluice::flow {
namespace {

class Linker {
 public:
  Linker(FlowDraft* draft, const CompileOptions& options, Problems* problems)
      : draft_(*draft), options_(options), problems_(problems) {
    for (const TaskDraft& task : draft_.tasks) names_.push_back(task.task.name);
  }

  void Link() {
    if (draft_.tasks.empty()) return;
    if (draft_.first) draft_.flow.first = Resolve(*draft_.first, "first.task");
    if (draft_.exception) draft_.flow.exception = Resolve(*draft_.exception, "flow.exception");
    for (TaskDraft& task : draft_.tasks) LinkTask(&task);
    CheckRoutes();
    CheckEnd();
    if (resolved_ && !draft_.incomplete) CheckReach();
    CheckExternal();
    if (!draft_.incomplete) CheckMembers();
    CheckVariables();
    for (TaskDraft& task : draft_.tasks) draft_.flow.tasks.push_back(std::move(task.task));
  }

 private:
  void Add(const Place& place, const Status& status) { problems_->AddError(status.At(place)); }

  TaskIndex Resolve(const Reference& reference, std::string_view from) {
    const auto found = std::find(names_.begin(), names_.end(), reference.name);
    if (found != names_.end()) return static_cast<TaskIndex>(found - names_.begin());
    resolved_ = false;
    Add(reference.place, Error(Code::kNotFound, "flow.unknown_task",
                               "{} names the task '{}', which does not exist{}", from,
                               reference.name, DidYouMean(reference.name, names_)));
    return kNoTask;
  }

  void LinkTask(TaskDraft* draft) {
    Task& task = draft->task;
    const std::string from = fmt::format("task {}", task.name);
    for (const Reference& next : draft->next) {
      const bool retry = next.name == "@retry" && &next == &draft->next.front() &&
                         task.execution == Execution::kDecision;
      task.next.push_back(retry ? kRetryTask : Resolve(next, from));
    }
    if (draft->fallback) task.retry_fallback = Resolve(*draft->fallback, from);
    for (const Reference& step : draft->pipeline) task.pipeline.push_back(Resolve(step, from));
    if (draft->join) task.join = Resolve(*draft->join, from);
    if (draft->exception) task.exception = Resolve(*draft->exception, from);
    CheckDecision(task);
  }

  void CheckDecision(const Task& task) {
    if (task.execution != Execution::kDecision) return;
    const bool decides = std::any_of(
        task.output.begin(), task.output.end(),
        [](const Mapping& mapping) { return mapping.to.space == TargetSpace::kDecision; });
    if (decides) return;
    Add(task.place,
        Error(Code::kInvalidArgument, "flow.no_decision",
              "decision task {} must map something to 'decision' in its output", task.name));
  }

  void CheckRoutes() {
    if (!options_.has_route) return;
    for (const TaskDraft& draft : draft_.tasks) {
      const Task& task = draft.task;
      if (task.is_subflow() || task.route.find("://") != std::string::npos) continue;
      if (options_.has_route(task.route)) continue;
      Add(draft.route_place, Error(Code::kNotFound, "flow.unknown_route", "Route {} not found{}",
                                   task.route, DidYouMean(task.route, options_.routes)));
    }
  }

  bool HasEnd() const {
    return std::ranges::any_of(draft_.tasks, [](const TaskDraft& draft) {
      return draft.task.execution == Execution::kEnd;
    });
  }

  void CheckEnd() {
    if (HasEnd()) return;
    Add(draft_.flow.place,
        Error(Code::kInvalidArgument, "flow.no_end", "flow must have at least one end task"));
  }

  // The way to a task decides which tasks follow it: a branch or step returns to its fork or
  // pipeline, and only the tasks of its handler follow from there.
  struct Visit {
    TaskIndex task = kNoTask;
    bool member = false;
    auto operator<=>(const Visit&) const = default;
  };

  static std::vector<Visit> After(const Task& task, bool member) {
    std::vector<Visit> after = {{task.exception, false}};
    if (member) return after;
    const bool fork = task.execution == Execution::kFork;
    for (const TaskIndex next : task.next) after.push_back({next, fork});
    for (const TaskIndex step : task.pipeline) after.push_back({step, true});
    after.push_back({task.join, false});
    after.push_back({task.retry_fallback, false});
    return after;
  }

  void CheckReach() {
    std::set<Visit> seen;
    std::set<TaskIndex> reached;
    bool ends = false;
    std::vector<Visit> open = {{draft_.flow.first, false}, {draft_.flow.exception, false}};
    while (!open.empty()) {
      const Visit at = open.back();
      open.pop_back();
      if (at.task < 0 || !seen.insert(at).second) continue;
      reached.insert(at.task);
      const Task& task = draft_.tasks[static_cast<size_t>(at.task)].task;
      ends = ends || (task.execution == Execution::kEnd && !at.member);
      const std::vector<Visit> after = After(task, at.member);
      open.insert(open.end(), after.begin(), after.end());
    }
    for (size_t i = 0; i < draft_.tasks.size(); ++i) {
      if (reached.contains(static_cast<TaskIndex>(i))) continue;
      const Task& task = draft_.tasks[i].task;
      Add(task.place, Error(Code::kInvalidArgument, "flow.unreachable_task",
                            "nothing leads to task {}", task.name));
    }
    if (!ends && HasEnd()) {
      Add(draft_.flow.place,
          Error(Code::kInvalidArgument, "flow.no_end",
                "no way leads to an end task: branches and steps don't end a flow"));
    }
  }

  void CheckExternal() {
    if (!draft_.ext_used || !draft_.flow.external_route.empty()) return;
    Add(*draft_.ext_used, Error(Code::kInvalidArgument, "flow.no_external_state_machine",
                                "flow is missing external.state.machine"));
  }

  // Branches of a fork and steps of a pipeline return to it; their own execution is ignored.
  void CheckMembers() {
    std::set<TaskIndex> told;
    for (const TaskDraft& draft : draft_.tasks) {
      const Task& task = draft.task;
      std::vector<TaskIndex> members = task.pipeline;
      if (task.execution == Execution::kFork) members = task.next;
      for (const TaskIndex index : members) {
        if (index < 0) continue;
        const Task& member = draft_.tasks[static_cast<size_t>(index)].task;
        if (member.execution == Execution::kSink || !told.insert(index).second) continue;
        problems_->AddWarning(Error(Code::kInvalidArgument, "flow.ignored_execution",
                                    "task {} goes back to the {} task {}: its execution '{}' is "
                                    "not followed there, use sink",
                                    member.name, ExecutionName(task.execution), task.name,
                                    ExecutionName(member.execution))
                                  .At(member.place));
      }
    }
  }

  void CheckVariables() {
    const ModelUse& use = draft_.use;
    for (const auto& [key, place] : use.written) {
      if (use.reads_any || use.read.contains(key)) continue;
      problems_->AddWarning(Error(Code::kInvalidArgument, "flow.unused_variable",
                                  "model.{} is set and never read", key)
                                .At(place));
    }
    for (const auto& [key, place] : use.read_at) {
      if (use.writes_any || use.written.contains(key) || IsReservedKey(key)) continue;
      problems_->AddWarning(Error(Code::kInvalidArgument, "flow.unset_variable",
                                  "model.{} is read and never set", key)
                                .At(place));
    }
  }

  FlowDraft& draft_;
  const CompileOptions& options_;
  Problems* const problems_;
  std::vector<std::string> names_;
  bool resolved_ = true;
};

}  // namespace

void LinkFlow(FlowDraft* draft, const CompileOptions& options, Problems* problems) {
  Linker(draft, options, problems).Link();
}

}  // namespace sluice::flow
