// The keys of a task.
#include <algorithm>
#include <array>
#include <utility>

#include "base/nearest.h"
#include "base/quantity.h"
#include "flow/draft.h"
#include "flow/loop_parse.h"
#include "flow/plan.h"
#include "flow/source_tree.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

constexpr std::string_view kExecutions =
    "[decision, response, end, sequential, parallel, pipeline, fork, sink]";

class TaskReader {
 public:
  TaskReader(const yaml::Node& node, const Reading& reading, FlowDraft* flow)
      : node_(node), reading_(reading), flow_(*flow) {}

  std::optional<TaskDraft> Read(size_t index) {
    if (!node_.is_map()) {
      Bad(node_, "flow.bad_task", "task[{}] must be a map, found {}", index,
          yaml::KindName(node_.kind));
      return std::nullopt;
    }
    if (!ReadName(index)) return std::nullopt;
    static const std::array<std::string, 14> kKeys = {
        "name", "process",  "input", "output",    "description", "execution", "next",
        "join", "pipeline", "loop",  "exception", "delay",       "source",    "ttl"};
    reading_.CheckKeys(node_, kKeys, fmt::format("task {}", name()));
    task().place = reading_.At(node_);
    ReadDescription();
    ReadExecution();
    ReadMappings("input", Side::kInput, &task().input);
    ReadMappings("output", Side::kOutput, &task().output);
    ReadNext();
    ReadJoin();
    ReadPipeline();
    ReadLoop();
    ReadSource();
    ReadException();
    ReadDelay();
    ReadTaskTtl();
    ChooseSubflowInput();
    return std::move(draft_);
  }

 private:
  Task& task() { return draft_.task; }
  const std::string& name() const { return draft_.task.name; }
  bool Is(Execution execution) const { return executes_ && draft_.task.execution == execution; }

  template <typename... Args>
  void Bad(const yaml::Node& at, std::string_view id, fmt::format_string<Args...> format,
           Args&&... args) {
    reading_.Add(
        at, Status(Code::kInvalidArgument, id, fmt::format(format, std::forward<Args>(args)...)));
  }

  const yaml::Node* Find(std::string_view key) const {
    const yaml::Node* found = node_.Find(key);
    return IsEmpty(found) ? nullptr : found;
  }

  std::string TextAt(std::string_view key) {
    const yaml::Node* found = Find(key);
    return found == nullptr ? "" : std::string(Trim(reading_.Text(*found, key)));
  }

  bool ReadName(size_t index) {
    task().name = TextAt("name");
    task().route = TextAt("process");
    const bool named_flow = name().starts_with(kFlowScheme);
    if (name().empty()) task().name = task().route;
    if (name().empty()) {
      Bad(node_, "flow.bad_task", "task[{}]. task name must not be empty", index);
      return false;
    }
    if (named_flow && !task().route.empty()) {
      Bad(node_, "flow.bad_task",
          "invalid task process={}. process tag not allowed when name is a sub-flow", name());
    }
    if (task().route.empty() || named_flow) task().route = name();
    const yaml::Node* at = Find("process") ? Find("process") : Find("name");
    draft_.route_place = reading_.At(*at);
    if (task().route.find("://") == std::string::npos) return true;
    task().subflow = task().route.starts_with(kFlowScheme) ? task().route.substr(kFlowScheme.size())
                                                           : std::string();
    if (task().subflow.empty()) {
      Bad(*at, "flow.bad_task", "invalid task {}={}. Syntax is flow://{{flow-name}}",
          named_flow || !Find("process") ? "name" : "process", task().route);
    }
    return true;
  }

  void ReadDescription() {
    task().description = TextAt("description");
    if (task().description.empty()) {
      Bad(node_, "flow.bad_task", "task {}. description must not be empty", name());
    }
  }

  void ReadExecution() {
    const std::string text = TextAt("execution");
    const bool was_incomplete = flow_.incomplete;
    flow_.incomplete = true;
    if (text.empty()) {
      Bad(node_, "flow.bad_execution", "task {}. execution type must not be empty", name());
      return;
    }
    for (int i = 0; i <= static_cast<int>(Execution::kSink); ++i) {
      if (ExecutionName(static_cast<Execution>(i)) != text) continue;
      task().execution = static_cast<Execution>(i);
      executes_ = true;
      flow_.incomplete = was_incomplete;
      return;
    }
    Bad(*Find("execution"), "flow.bad_execution", "task {}. execution type '{}' must be one of {}",
        name(), text, kExecutions);
  }

  void ReadMappings(std::string_view key, Side side, std::vector<Mapping>* out) {
    const yaml::Node* list = Find(key);
    if (list == nullptr) return;
    if (!list->is_list()) {
      return Bad(*list, "flow.bad_task", "task {}. {} must be a list", name(), key);
    }
    if (list->items.size() > kMaxMappings) {
      return Bad(*list, "flow.too_large", "task {}. {} has more than {} mappings", name(), key,
                 kMaxMappings);
    }
    const ParseContext context{side, reading_.options.settings, reading_.options.files, 0};
    for (const yaml::Node& item : list->items) {
      const std::string text = reading_.Text(item, key);
      if (text.empty()) continue;
      auto mappings = ParseMapping(text, context);
      const Place place = reading_.Inside(item);
      if (!mappings) {
        reading_.problems->AddError(
            mappings.error()
                .Prefixed(fmt::format("task {} has an invalid {} mapping", name(), key))
                .At(place));
        continue;
      }
      for (Mapping& mapping : *mappings) {
        Note(mapping, place);
        out->push_back(std::move(mapping));
      }
    }
  }

  // Records the variables that a mapping uses, for checks of the whole flow.
  void Note(const Mapping& mapping, const Place& place) {
    flow_.use.Read(mapping.from, place);
    flow_.use.Read(mapping.to.content, place);
    if (mapping.to.conversion) flow_.use.Read(*mapping.to.conversion, place);
    if (mapping.to.space == TargetSpace::kModel) {
      flow_.use.Write(mapping.to.path, place);
    } else {
      flow_.use.ReadIn(mapping.to.path, place);
    }
    if (mapping.to.space == TargetSpace::kExternal && !flow_.ext_used) flow_.ext_used = place;
    if (mapping.to.space == TargetSpace::kDecision && executes_ && !Is(Execution::kDecision)) {
      reading_.problems->AddError(Error(Code::kInvalidArgument, "flow.bad_mapping",
                                        "task {} maps to 'decision', but is not a decision task",
                                        name())
                                      .At(place));
    }
    if (IsOutput(mapping.to.space) && executes_ && !Is(Execution::kResponse) &&
        !Is(Execution::kEnd)) {
      reading_.problems->AddWarning(
          Error(Code::kInvalidArgument, "flow.lost_output",
                "task {}: '{}' is lost, only response and end tasks answer: keep it in the model",
                name(), mapping.text)
              .At(place));
    }
    NoteTypes(mapping, place);
    const std::string_view key =
        mapping.to.space == TargetSpace::kBody ? mapping.to.path.first_key() : std::string_view();
    if (key == "input" || key == "output" || key == "result" || key == "error") {
      reading_.problems->AddWarning(Error(Code::kInvalidArgument, "flow.unusual_mapping",
                                          "task {}: '{}' makes a key '{}' of the function's body",
                                          name(), mapping.text, key)
                                        .At(place));
    }
  }

  static bool IsOutput(TargetSpace space) {
    return space == TargetSpace::kOutputBody || space == TargetSpace::kOutputHeaders ||
           space == TargetSpace::kOutputHeader || space == TargetSpace::kOutputStatus;
  }

  // `input.body.x:int` is the key `x:int`: only model variables have types.
  void NoteTypes(const Mapping& mapping, const Place& place) {
    const Space from = mapping.from.space;
    const Path* paths[] = {
        from == Space::kInput || from == Space::kResult ? &mapping.from.path : nullptr,
        mapping.to.space == TargetSpace::kBody || mapping.to.space == TargetSpace::kOutputBody
            ? &mapping.to.path
            : nullptr};
    for (const Path* const path : paths) {
      if (path == nullptr || path->empty()) continue;
      const std::string_view key = path->steps().back().key;
      const size_t colon = key.rfind(':');
      if (colon == key.npos || !Conversion::Parse(key.substr(colon + 1))) continue;
      reading_.problems->AddWarning(
          Error(Code::kInvalidArgument, "flow.unusual_mapping",
                "task {}: '{}' has a key '{}': only model variables have types, as in model.x:{}",
                name(), mapping.text, key, key.substr(colon + 1))
              .At(place));
    }
  }

  std::vector<Reference> ReadList(const yaml::Node& list, std::string_view key) {
    std::vector<Reference> references;
    for (const yaml::Node& item : list.items) {
      const std::string text(Trim(reading_.Text(item, key)));
      if (!text.empty()) references.push_back({text, reading_.At(item)});
    }
    return references;
  }

  void ReadNext() {
    const yaml::Node* list = Find("next");
    const bool last = Is(Execution::kEnd) || Is(Execution::kSink);
    if (last || !executes_) {
      if (list != nullptr && last) Unused(*list, "next");
      return;
    }
    if (list == nullptr || !list->is_list()) flow_.incomplete = true;
    if (list == nullptr) {
      return Bad(node_, "flow.bad_next", "Invalid task {}. Missing a list of next tasks", name());
    }
    if (!list->is_list()) {
      return Bad(*list, "flow.bad_next", "invalid task {}. 'next' should be a list", name());
    }
    draft_.next = ReadList(*list, "next");
    CheckNext(*list);
  }

  void CheckNext(const yaml::Node& list) {
    const size_t count = draft_.next.size();
    const bool one =
        Is(Execution::kSequential) || Is(Execution::kPipeline) || Is(Execution::kResponse);
    if (one && count != 1) {
      Bad(list, "flow.bad_next", "Invalid {} task {}. Expected one next task, Actual: {}",
          ExecutionName(task().execution), name(), count);
    }
    if (Is(Execution::kDecision) && count < 2) {
      Bad(list, "flow.bad_next", "Decision task {} must have at least 2 next tasks", name());
    }
    if (Is(Execution::kFork) && Find("source") != nullptr && count != 1) {
      Bad(list, "flow.bad_next",
          "Invalid fork task {}. Expected one next task if dynamic model source is used, Actual: "
          "{}",
          name(), count);
    }
    if (Is(Execution::kDecision) && count > 0) ReadRetry();
  }

  // `@retry`, `@retry | fallback` or `fallback | @retry` as the first of a decision's next tasks.
  void ReadRetry() {
    constexpr std::string_view kRetry = "@retry";
    Reference& first = draft_.next.front();
    if (first.name.find(kRetry) == std::string::npos) return;
    const std::string_view text = first.name;
    const size_t bar = text.find('|');
    const std::string_view left = Trim(text.substr(0, bar));
    const std::string_view right = bar == text.npos ? "" : Trim(text.substr(bar + 1));
    const std::string fallback(left == kRetry ? right : left);
    if ((left != kRetry && right != kRetry) || (bar != text.npos && fallback.empty())) {
      reading_.problems->AddError(Error(Code::kInvalidArgument, "flow.bad_next",
                                        "task {}: expected '@retry' or '@retry | task', found '{}'",
                                        name(), first.name)
                                      .At(first.place));
    } else if (bar != text.npos) {
      draft_.fallback = Reference{fallback, first.place};
    }
    first.name = kRetry;
  }

  void ReadJoin() {
    const yaml::Node* node = Find("join");
    if (!Is(Execution::kFork)) {
      if (node != nullptr && executes_) Unused(*node, "join");
      return;
    }
    if (node == nullptr) {
      flow_.incomplete = true;
      return Bad(node_, "flow.bad_join", "Invalid task {}. Missing a join task", name());
    }
    draft_.join = Reference{TextAt("join"), reading_.At(*node)};
  }

  void ReadPipeline() {
    const yaml::Node* list = Find("pipeline");
    if (!Is(Execution::kPipeline)) {
      if (list != nullptr && executes_) Unused(*list, "pipeline");
      return;
    }
    if (list == nullptr || !list->is_list()) flow_.incomplete = true;
    if (list == nullptr) {
      return Bad(node_, "flow.bad_pipeline", "Invalid task {}. Missing a list of pipeline steps",
                 name());
    }
    if (!list->is_list()) {
      return Bad(*list, "flow.bad_pipeline", "Invalid task {}. 'pipeline' should be a list",
                 name());
    }
    draft_.pipeline = ReadList(*list, "pipeline");
  }

  void ReadLoop() {
    const yaml::Node* node = Find("loop");
    if (node == nullptr) return;
    if (!Is(Execution::kPipeline)) {
      if (executes_) Unused(*node, "loop");
      return;
    }
    const yaml::Node* statement = node->is_map() ? node->Find("statement") : nullptr;
    if (IsEmpty(statement)) {
      return Bad(*node, "flow.bad_loop", "Invalid task {}. Please check loop.statement", name());
    }
    static const std::array<std::string, 2> kKeys = {"statement", "condition"};
    reading_.CheckKeys(*node, kKeys, "loop");
    AddLoop(*statement,
            ParseLoopStatement(reading_.Text(*statement, "loop.statement"), &task().loop));
    const yaml::Node* condition = node->Find("condition");
    if (!IsEmpty(condition)) {
      for (const yaml::Node& item :
           condition->is_list() ? condition->items : std::vector<yaml::Node>{*condition}) {
        AddLoop(item, ParseLoopCondition(reading_.Text(item, "loop.condition"), &task().loop));
      }
    }
    NoteLoop(reading_.At(*statement));
  }

  void AddLoop(const yaml::Node& at, const Status& status) {
    if (!status.ok()) reading_.Add(at, status.Prefixed(fmt::format("task {}", name())));
  }

  void NoteLoop(const Place& place) {
    const Loop& loop = task().loop;
    const auto read = [&](const ModelRef& ref) { flow_.use.Read(ref, place); };
    if (loop.start_ref && !loop.start_ref->shared) flow_.use.Write(loop.start_ref->path, place);
    if (loop.left.ref) read(*loop.left.ref);
    if (loop.right.ref) read(*loop.right.ref);
    if (loop.kind == Loop::Kind::kWhile) read(loop.running);
    if (loop.kind == Loop::Kind::kFor) read(loop.counter);
    for (const Loop::Condition& condition : loop.conditions) read(condition.ref);
  }

  void ReadSource() {
    const yaml::Node* node = Find("source");
    if (node == nullptr) return;
    if (!Is(Execution::kFork)) {
      if (executes_) Unused(*node, "source");
      return;
    }
    const std::string text = TextAt("source");
    auto ref = ModelRef::Parse(text);
    if (!ref) {
      return Bad(*node, "flow.bad_source",
                 "Invalid task {}. Source must start with model namespace, Actual: {}", name(),
                 text);
    }
    flow_.use.Read(*ref, reading_.At(*node));
    task().source = *std::move(ref);
  }

  void ReadException() {
    if (const yaml::Node* node = Find("exception")) {
      draft_.exception = Reference{TextAt("exception"), reading_.At(*node)};
    }
  }

  void ReadDelay() {
    const yaml::Node* node = Find("delay");
    if (node == nullptr) return;
    const std::string text = TextAt("delay");
    if (text.starts_with("model.") && text.find(':') == std::string::npos) {
      auto ref = ModelRef::Parse(text);
      if (!ref) return reading_.Add(*node, ref.error());
      flow_.use.Read(*ref, reading_.At(*node));
      task().delay_ref = *std::move(ref);
      return;
    }
    const std::optional<uint64_t> ms = ParseDelayMs(text);
    if (!ms || *ms < 1) {
      return Bad(*node, "flow.bad_delay",
                 "invalid task {}. delay '{}' must be milliseconds from 1, or a variable that "
                 "starts with 'model.'",
                 name(), text);
    }
    if (flow_.flow.ttl_ms > 0 && *ms >= flow_.flow.ttl_ms) {
      return Bad(*node, "flow.bad_delay", "invalid task {}. delay must be less than TTL", name());
    }
    task().delay_ms = *ms;
  }

  void ReadTaskTtl() {
    const yaml::Node* node = Find("ttl");
    if (node == nullptr) return;
    const auto ttl = ParseTtl(TextAt("ttl"));
    if (!ttl || *ttl == 0) {
      return Bad(*node, "flow.bad_ttl",
                 "invalid task {}. ttl must be a positive duration (e.g. 8s)", name());
    }
    if (flow_.flow.ttl_ms > 0 && *ttl >= flow_.flow.ttl_ms) {
      return Bad(*node, "flow.bad_ttl", "invalid task {}. ttl must be less than flow.ttl", name());
    }
    task().ttl_ms = *ttl;
  }

  void ChooseSubflowInput() {
    for (const Mapping& mapping : task().input) {
      const bool body = mapping.to.space == TargetSpace::kBody;
      if (mapping.to.space == TargetSpace::kWholeBody ||
          (body && mapping.to.path.first_key() != "body")) {
        task().subflow_input = SubflowInput::kBody;
      }
    }
  }

  void Unused(const yaml::Node& at, std::string_view key) {
    reading_.problems->AddWarning(Error(Code::kInvalidArgument, "flow.unused_key",
                                        "task {}: '{}' means nothing when execution is {}", name(),
                                        key, ExecutionName(task().execution))
                                      .At(reading_.At(at)));
  }

  const yaml::Node& node_;
  const Reading& reading_;
  FlowDraft& flow_;
  TaskDraft draft_;
  bool executes_ = false;  // whether the execution type is known
};

}  // namespace

std::optional<TaskDraft> ReadTask(const yaml::Node& node, size_t index, const Reading& reading,
                                  FlowDraft* flow) {
  return TaskReader(node, reading, flow).Read(index);
}

}  // namespace sluice::flow
