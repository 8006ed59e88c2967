#include "flow_engine/run_rows.h"

#include <utility>

#include "base/bytes.h"
#include "flow/portable.h"
#include "json/object_writer.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using json::Value;

constexpr uint8_t kVersion = 1;
constexpr size_t kMaxStackBytes = 8192;

constexpr std::pair<RunPhase, std::string_view> kPhases[] = {{RunPhase::kRunning, "running"},
                                                             {RunPhase::kCompleted, "completed"},
                                                             {RunPhase::kFailed, "failed"},
                                                             {RunPhase::kCancelled, "cancelled"}};

Status Corrupt(std::string_view what) {
  return Error(Code::kCorruption, "flow.bad_state",
               "a stored run can't be read: its {} is malformed", what);
}

std::string KeyOf(std::string_view prefix, std::string_view id) {
  return std::string(prefix).append(id);
}

uint64_t NumberIn(const Value& object, std::string_view name) {
  const Value& value = object[name];
  return value.is_int() && value.AsInt() > 0 ? static_cast<uint64_t>(value.AsInt()) : 0;
}

std::string TextIn(const Value& object, std::string_view name) {
  const Value& value = object[name];
  return value.is_string() ? std::string(value.AsString()) : std::string();
}

void PutText(Value* object, std::string_view name, const std::string& text) {
  if (!text.empty()) object->Set(name, Value(text));
}

void PutNumber(Value* object, std::string_view name, uint64_t number) {
  if (number != 0) object->Set(name, Value::Unsigned(number));
}

void PutText(json::ObjectWriter* object, std::string_view name, std::string_view text) {
  if (!text.empty()) object->Text(name, text);
}

void PutNumber(json::ObjectWriter* object, std::string_view name, uint64_t number) {
  if (number != 0) object->Int(name, static_cast<int64_t>(number));
}

// Writes only the size of a value that is too large.
void PutValue(json::ObjectWriter* object, std::string_view name, const Value& value) {
  if (value.is_missing()) return;
  std::string* const out = object->Field(name);
  const size_t begin = out->size();
  json::Print(flow::ToPortable(value), out);
  const size_t bytes = out->size() - begin;
  if (bytes <= kMaxStepValueBytes) return;
  out->resize(begin);
  json::ObjectWriter left_out(out);
  left_out.Text("$sluice", "left_out");
  left_out.Int("bytes", static_cast<int64_t>(bytes));
  left_out.End();
}

// As people see it.
void AppendView(const RunStep& step, std::string* out) {
  json::ObjectWriter view(out);
  view.Int("step", step.number);
  view.Text("flow", step.flow);
  view.Text("task", step.task);
  view.Text("route", step.route);
  view.Text("state", StepEndName(step.end));
  PutNumber(&view, "sent_ms", step.sent_ms);
  PutNumber(&view, "ended_ms", step.ended_ms);
  PutNumber(&view, "ran_us", step.ran_us);
  PutValue(&view, "headers", step.headers);
  PutValue(&view, "input", step.input);
  PutNumber(&view, "status", static_cast<uint64_t>(step.status));
  PutValue(&view, "output_headers", step.output_headers);
  PutValue(&view, "output", step.output);
  PutText(&view, "stack", std::string_view(step.stack).substr(0, kMaxStackBytes));
  view.End();
}

Result<Value> ParseRow(std::string_view what, std::string_view stored) {
  if (stored.empty() || static_cast<uint8_t>(stored[0]) != kVersion) {
    return Unexpected(Corrupt(what));
  }
  auto value = json::Parse(stored.substr(1));
  if (!value || !value->is_object()) return Unexpected(Corrupt(what));
  return value;
}

}  // namespace

std::string_view PhaseName(RunPhase phase) {
  for (const auto& [each, name] : kPhases) {
    if (each == phase) return name;
  }
  return "";
}

std::optional<RunPhase> PhaseOf(std::string_view name) {
  for (const auto& [phase, each] : kPhases) {
    if (each == name) return phase;
  }
  return std::nullopt;
}

std::string_view StepEndName(StepEnd end) {
  switch (end) {
    case StepEnd::kDone:
      return "done";
    case StepEnd::kFailed:
      return "failed";
    case StepEnd::kTimedOut:
      return "timed out";
    case StepEnd::kAbandoned:
      return "abandoned";
  }
  return "";
}

std::string HeadKey(std::string_view id) { return KeyOf(kHeadPrefix, id); }
std::string InputKey(std::string_view id) { return KeyOf(kInputPrefix, id); }
std::string MachineKey(std::string_view id) { return KeyOf("m", id); }
std::string StepPrefix(std::string_view id) { return KeyOf("s", id); }
std::string LiveKey(std::string_view id) { return KeyOf(kLivePrefix, id); }
std::string FilesKey(std::string_view id) { return KeyOf(kFilesPrefix, id); }
std::string AppKey(std::string_view version) { return KeyOf(kAppPrefix, version); }
std::string StepKey(std::string_view id, uint32_t number) {
  std::string key = StepPrefix(id);
  AppendU32(&key, number);
  return key;
}

std::string EncodeVersion(uint64_t writer, uint64_t number) {
  std::string row;
  AppendU8(&row, kVersion);
  AppendU64(&row, writer);
  AppendVarint(&row, number);
  return row;
}

db::RowWrite RunRow(std::string key, std::optional<std::string> value,
                    std::optional<std::optional<std::string>> expected) {
  return {db::RowFamily::kRun, std::nullopt, std::move(key), std::move(value), std::move(expected)};
}

Value ViewOf(const RunHead& head) {
  Value view = Value::Object({{"id", head.id},
                              {"flow", head.flow},
                              {"state", PhaseName(head.phase)},
                              {"origin", head.origin},
                              {"created_ms", Value::Unsigned(head.created_ms)}});
  PutNumber(&view, "ended_ms", head.ended_ms);
  PutNumber(&view, "status", static_cast<uint64_t>(head.status));
  PutText(&view, "message", head.message);
  PutText(&view, "cid", head.cid);
  PutText(&view, "trace", head.trace);
  PutNumber(&view, "steps", head.steps);
  PutNumber(&view, "retries", head.retries);
  PutText(&view, "app", head.app);
  return view;
}

std::string EncodeHead(const RunHead& head) {
  return static_cast<char>(kVersion) + json::ToText(ViewOf(head));
}

Result<RunHead> DecodeHead(std::string_view id, std::string_view stored) {
  ASSIGN_OR_RETURN(const Value value, ParseRow("head", stored));
  RunHead head;
  head.id = std::string(id);
  head.flow = TextIn(value, "flow");
  head.app = TextIn(value, "app");
  head.origin = TextIn(value, "origin");
  head.cid = TextIn(value, "cid");
  head.trace = TextIn(value, "trace");
  head.message = TextIn(value, "message");
  head.created_ms = NumberIn(value, "created_ms");
  head.ended_ms = NumberIn(value, "ended_ms");
  head.status = static_cast<int>(NumberIn(value, "status"));
  head.steps = static_cast<uint32_t>(NumberIn(value, "steps"));
  head.retries = static_cast<uint32_t>(NumberIn(value, "retries"));
  const auto phase = PhaseOf(TextIn(value, "state"));
  if (!phase || head.flow.empty()) return Unexpected(Corrupt("head"));
  head.phase = *phase;
  return head;
}

std::string EncodeInput(const Value& input) {
  std::string row(1, static_cast<char>(kVersion));
  json::Print(flow::ToPortable(input), &row);
  return row;
}

Result<Value> DecodeInput(std::string_view stored) {
  ASSIGN_OR_RETURN(const Value value, ParseRow("input", stored));
  return flow::FromPortable(value);
}

std::string EncodeFiles(const std::vector<StepFile>& files) {
  std::string row;
  AppendU8(&row, kVersion);
  for (const StepFile& file : files) {
    AppendString(&row, file.flow);
    AppendString(&row, file.path);
    AppendU8(&row, static_cast<uint8_t>(file.mode));
    AppendU8(&row, file.bytes ? 1 : 0);
    AppendString(&row, file.bytes.value_or(""));
    AppendVarint(&row, file.at ? *file.at + 1 : 0);
  }
  return row;
}

Result<std::vector<StepFile>> DecodeFiles(std::string_view stored) {
  ByteReader reader(stored);
  if (reader.U8() != kVersion) return Unexpected(Corrupt("files"));
  std::vector<StepFile> files;
  while (reader.ok() && !reader.AtEnd()) {
    StepFile file;
    file.flow = std::string(reader.String());
    file.path = std::string(reader.String());
    file.mode = reader.U8() == 0 ? flow::Files::Mode::kReplace : flow::Files::Mode::kAppend;
    const bool has_bytes = reader.U8() != 0;
    std::string bytes(reader.String());
    if (has_bytes) file.bytes = std::move(bytes);
    if (const uint64_t at = reader.Varint(); at != 0) file.at = at - 1;
    files.push_back(std::move(file));
  }
  if (!reader.ok()) return Unexpected(Corrupt("files"));
  return files;
}

std::string EncodeMachine(const RunMachine& machine) {
  std::string row;
  AppendU8(&row, kVersion);
  AppendVarint(&row, machine.next_step);
  AppendVarint(&row, machine.at_ms);
  row += machine.text;
  return row;
}

Result<RunMachine> DecodeMachine(std::string_view stored) {
  ByteReader reader(stored);
  if (reader.U8() != kVersion) return Unexpected(Corrupt("machine"));
  RunMachine machine;
  machine.next_step = static_cast<uint32_t>(reader.Varint());
  machine.at_ms = reader.Varint();
  machine.text = std::string(reader.Rest());
  if (!reader.ok() || machine.text.empty()) return Unexpected(Corrupt("machine"));
  return machine;
}

std::string EncodeStep(const RunStep& step, const RunMachine& before) {
  constexpr size_t kUsualBytes = 512;
  std::string view;
  view.reserve(kUsualBytes);
  AppendView(step, &view);
  std::string row;
  row.reserve(kUsualBytes + view.size() + before.text.size());
  AppendU8(&row, kVersion);
  AppendString(&row, view);
  if (before.text.size() <= kMaxKeptMachineBytes) row += EncodeMachine(before);
  return row;
}

Result<StoredStep> DecodeStep(std::string_view stored) {
  ByteReader reader(stored);
  if (reader.U8() != kVersion) return Unexpected(Corrupt("step"));
  auto view = json::Parse(reader.String());
  if (!reader.ok() || !view || !view->is_object()) return Unexpected(Corrupt("step"));
  StoredStep step{.view = std::move(*view), .before = std::nullopt};
  if (reader.AtEnd()) return step;
  ASSIGN_OR_RETURN(step.before, DecodeMachine(reader.Rest()));
  return step;
}

}  // namespace sluice::flow_engine
