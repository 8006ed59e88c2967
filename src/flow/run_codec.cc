// docs/formats/runs.md is the format.
#include "flow/run_codec.h"

#include <utility>

#include "flow/portable.h"
#include "json/object_writer.h"

namespace sluice::flow {

using json::Value;

namespace {

constexpr int64_t kVersion = 1;

std::unexpected<Status> Bad(std::string_view why) {
  return Fail(Code::kCorruption, "flow.bad_state", "a stored run can't be read: {}", why);
}

void Put(json::ObjectWriter* object, std::string_view name, uint64_t number) {
  if (number != 0) object->Int(name, static_cast<int64_t>(number));
}

void Put(json::ObjectWriter* object, std::string_view name, const Value& value) {
  if (!value.is_missing()) json::Print(ToPortable(value), object->Field(name));
}

void PutTask(json::ObjectWriter* object, std::string_view name, const Flow& flow, TaskIndex task) {
  if (task >= 0) object->Text(name, flow.tasks[static_cast<size_t>(task)].name);
}

// [one, another]
template <typename Items, typename Append>
void PutList(json::ObjectWriter* object, std::string_view name, const Items& items,
             const Append& append) {
  std::string* const out = object->Field(name);
  char before = '[';
  for (const auto& item : items) {
    *out += before;
    append(item, out);
    before = ',';
  }
  *out += items.empty() ? "[]" : "]";
}

// Reads fields and remembers the first that is not as it must be.
class Reader {
 public:
  explicit Reader(const Value& object) : object_(object) {}

  uint64_t Number(std::string_view name) {
    const Value& value = object_[name];
    if (value.is_missing()) return 0;
    if (value.is_int() && value.AsInt() >= 0) return static_cast<uint64_t>(value.AsInt());
    return Refuse(name), 0;
  }

  std::string Text(std::string_view name) {
    const Value& value = object_[name];
    if (value.is_missing()) return {};
    if (value.is_string()) return std::string(value.AsString());
    return Refuse(name), std::string();
  }

  bool Flag(std::string_view name) { return IsTrueFlag(object_[name]); }

  Value Any(std::string_view name) {
    auto value = FromPortable(object_[name]);
    if (value) return *std::move(value);
    return Refuse(name), Value();
  }

  TaskIndex Task(std::string_view name, const Flow& flow) {
    const std::string task = Text(name);
    if (task.empty()) return kNoTask;
    const TaskIndex index = flow.Find(task);
    if (index == kNoTask) Refuse(fmt::format("flow {} has no task {}", flow.id, task));
    return index;
  }

  TaskIndex RequiredTask(std::string_view name, const Flow& flow) {
    const TaskIndex index = Task(name, flow);
    if (index == kNoTask) Refuse(name);
    return index;
  }

  Reader In(std::string_view name) const { return Reader(object_[name]); }
  void Join(const Reader& other) {
    if (problem_.empty()) problem_ = other.problem_;
  }
  void Refuse(std::string_view why) {
    if (problem_.empty()) problem_ = std::string(why);
  }
  const std::string& problem() const { return problem_; }

 private:
  static bool IsTrueFlag(const Value& value) { return value.is_bool() && value.AsBool(); }

  const Value& object_;
  std::string problem_;
};

void AppendLine(const Line& line, const Flow& flow, std::string* out) {
  json::ObjectWriter made(out);
  Put(&made, "group", line.group);
  if (line.index >= 0) made.Int("index", line.index);
  Put(&made, "item", line.item);
  Put(&made, "error", line.error);
  PutTask(&made, "failed", flow, line.failed);
  made.End();
}

Line DecodeLine(Reader reader, const Flow& flow, Reader* outer, bool has_index) {
  Line line;
  line.group = reader.Number("group");
  if (has_index) line.index = static_cast<int64_t>(reader.Number("index"));
  line.item = reader.Any("item");
  line.error = reader.Any("error");
  line.failed = reader.Task("failed", flow);
  outer->Join(reader);
  return line;
}

}  // namespace

class RunCodec {
 public:
  static void Append(const Run& run, RootInput root, std::string* out) {
    const RunState& state = run.state_;
    json::ObjectWriter made(out);
    made.Int("v", kVersion);
    made.Text("run", state.run);
    made.Text("cid", state.cid);
    made.Text("trace", state.trace);
    made.Int("status", state.status);
    made.Text("message", state.message);
    made.Flag("started", state.started);
    made.Flag("ended", state.ended);
    Put(&made, "last", state.last_id);
    Put(&made, "root", state.root);
    Put(&made, "shared", state.shared);
    Put(&made, "model", run.last_model_);
    PutList(&made, "frames", state.frames, [&](const Frame& frame, std::string* to) {
      AppendFrame(frame, root == RootInput::kWith || frame.id != state.root, to);
    });
    PutList(&made, "groups", state.groups, [&](const Group& group, std::string* to) {
      AppendGroup(group, FlowOf(state, group.frame), to);
    });
    PutList(&made, "calls", state.calls, [&](const PendingCall& call, std::string* to) {
      AppendCall(call, FlowOf(state, call.frame), to);
    });
    made.End();
  }

  static Status Decode(const Value& value, const Value& input, Run* run) {
    if (value["v"] != Value(kVersion)) return Bad("its version is not known").error();
    RunState& state = run->state_;
    Reader reader(value);
    state.run = reader.Text("run");
    state.cid = reader.Text("cid");
    state.trace = reader.Text("trace");
    state.status = static_cast<int>(reader.Number("status"));
    state.message = reader.Text("message");
    state.started = reader.Flag("started");
    state.ended = reader.Flag("ended");
    state.last_id = reader.Number("last");
    state.root = reader.Number("root");
    state.shared = reader.Any("shared");
    run->last_model_ = reader.Any("model");
    if (!state.shared.is_object()) reader.Refuse("shared");
    if (!reader.problem().empty()) return Bad(reader.problem()).error();
    for (const Value& each : value["frames"].items()) {
      RETURN_IF_ERROR(DecodeFrame(each, input, run));
    }
    for (const Value& each : value["groups"].items()) RETURN_IF_ERROR(DecodeGroup(each, &state));
    for (const Value& each : value["calls"].items()) RETURN_IF_ERROR(DecodeCall(each, &state));
    return OkStatus();
  }

  static const Frame* FindFrame(const RunState& state, uint64_t id) {
    for (const Frame& frame : state.frames) {
      if (frame.id == id) return &frame;
    }
    return nullptr;
  }

 private:
  static const Flow& FlowOf(const RunState& state, uint64_t frame) {
    return *FindFrame(state, frame)->flow;
  }

  static void AppendFrame(const Frame& frame, bool with_input, std::string* out) {
    json::ObjectWriter made(out);
    made.Text("flow", frame.flow->id);
    made.Flag("responded", frame.responded);
    if (frame.over) made.Flag("over", true);
    Put(&made, "id", frame.id);
    if (with_input) Put(&made, "input", frame.input);
    Put(&made, "model", frame.model);
    Put(&made, "ttl", frame.ttl_ms);
    Put(&made, "due", frame.due_ms);
    Put(&made, "depth", static_cast<uint64_t>(frame.depth));
    Put(&made, "caller", frame.caller);
    made.End();
  }

  static Status DecodeFrame(const Value& value, const Value& root_input, Run* run) {
    Reader reader(value);
    Frame frame;
    const std::string flow = reader.Text("flow");
    frame.flow = run->flows_->Find(flow);
    if (frame.flow == nullptr) return Bad(fmt::format("there is no flow {}", flow)).error();
    frame.responded = reader.Flag("responded");
    frame.over = reader.Flag("over");
    frame.id = reader.Number("id");
    frame.input = reader.Any("input");
    if (frame.input.is_missing() && frame.id == run->state_.root) frame.input = root_input;
    frame.model = reader.Any("model");
    frame.ttl_ms = reader.Number("ttl");
    frame.due_ms = reader.Number("due");
    frame.depth = static_cast<int>(reader.Number("depth"));
    frame.caller = reader.Number("caller");
    if (!frame.input.is_object() || !frame.model.is_object()) reader.Refuse("a frame");
    if (!reader.problem().empty()) return Bad(reader.problem()).error();
    run->state_.frames.push_back(std::move(frame));
    return OkStatus();
  }

  static void AppendGroup(const Group& group, const Flow& flow, std::string* out) {
    json::ObjectWriter made(out);
    AppendLine(group.outer, flow, made.Field("outer"));
    PutTask(&made, "task", flow, group.task);
    Put(&made, "id", group.id);
    Put(&made, "frame", group.frame);
    Put(&made, "expected", group.expected);
    Put(&made, "done", group.done);
    Put(&made, "step", group.step);
    made.End();
  }

  static Status DecodeGroup(const Value& value, RunState* state) {
    Reader reader(value);
    Group group;
    group.frame = reader.Number("frame");
    const Frame* frame = FindFrame(*state, group.frame);
    if (frame == nullptr) return Bad("a group has no frame").error();
    group.id = reader.Number("id");
    group.task = reader.RequiredTask("task", *frame->flow);
    group.outer = DecodeLine(reader.In("outer"), *frame->flow, &reader,
                             value["outer"].Find("index") != nullptr);
    group.expected = reader.Number("expected");
    group.done = reader.Number("done");
    group.step = reader.Number("step");
    if (!reader.problem().empty()) return Bad(reader.problem()).error();
    const Task& task = frame->flow->tasks[static_cast<size_t>(group.task)];
    const bool pipeline = task.execution == Execution::kPipeline;
    if ((!pipeline && task.execution != Execution::kFork) ||
        (pipeline && group.step >= task.pipeline.size())) {
      return Bad(fmt::format("task {} is another one now", task.name)).error();
    }
    state->groups.push_back(std::move(group));
    return OkStatus();
  }

  static void AppendCall(const PendingCall& call, const Flow& flow, std::string* out) {
    json::ObjectWriter made(out);
    AppendLine(call.line, flow, made.Field("line"));
    PutTask(&made, "task", flow, call.task);
    Put(&made, "id", call.id);
    Put(&made, "frame", call.frame);
    Put(&made, "headers", call.headers);
    Put(&made, "body", call.body);
    Put(&made, "send", call.send_ms);
    Put(&made, "due", call.due_ms);
    Put(&made, "child", call.child);
    made.End();
  }

  static Status DecodeCall(const Value& value, RunState* state) {
    Reader reader(value);
    PendingCall call;
    call.frame = reader.Number("frame");
    const Frame* frame = FindFrame(*state, call.frame);
    if (frame == nullptr) return Bad("a call has no frame").error();
    call.id = reader.Number("id");
    call.task = reader.RequiredTask("task", *frame->flow);
    call.line = DecodeLine(reader.In("line"), *frame->flow, &reader,
                           value["line"].Find("index") != nullptr);
    call.headers = reader.Any("headers");
    call.body = reader.Any("body");
    call.send_ms = reader.Number("send");
    call.due_ms = reader.Number("due");
    call.child = reader.Number("child");
    if (!reader.problem().empty()) return Bad(reader.problem()).error();
    state->calls.push_back(std::move(call));
    return OkStatus();
  }
};

std::string EncodeRun(const Run& run, RootInput root) {
  constexpr size_t kUsualBytes = 1024;
  std::string text;
  text.reserve(kUsualBytes);
  RunCodec::Append(run, root, &text);
  return text;
}

Result<Run> DecodeRun(const Value& value, std::shared_ptr<const FlowSet> flows, const Files* files,
                      const Value& input) {
  Run run(std::move(flows), files);
  RETURN_IF_ERROR(RunCodec::Decode(value, input, &run));
  return run;
}

Value RootInputOf(const Run& run) {
  const Frame* const root = RunCodec::FindFrame(run.state(), run.state().root);
  return root == nullptr ? Value() : root->input;
}

}  // namespace sluice::flow
