// Values and the rest of db: now, null, cast, JSON, CSV, guid, sleep, limits, time zone.
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "base/log.h"
#include "json/parse.h"
#include "json/print.h"
#include "procedure/arguments.h"
#include "procedure/csv.h"
#include "procedure/db_object.h"
#include "procedure/json_text.h"

namespace sluice::procedure {
namespace {

using lua::Call;
using lua::HostObject;

constexpr int64_t kMinInstructions = 100;
constexpr int64_t kMaxInstructions = 1'000'000'000;
constexpr int64_t kSleepSliceMs = 50;
constexpr size_t kGuidBytes = 16;

bool IsFine(std::string_view precision) {
  return precision == "us" || precision == "usec" || precision == "microsecond";
}

Status RunNow(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  ASSIGN_OR_RETURN(const Value precision, call.Get(0));
  const bool fine = precision.is_string() ? IsFine(precision.AsString())
                                          : session.runtime->datetime_digits() == 6;
  auto us = static_cast<int64_t>(session.engine.database().clock().WallNs() / 1000);
  if (!fine) us -= us % 1000;
  call.Return(Value(json::Datetime{us}));
  return OkStatus();
}

Status RunIsNull(HostObject&, Call& call) {
  // A table, a function or an object is never null.
  if (call.kind(0) != lua::Kind::kValue) {
    call.Return(Value(call.kind(0) == lua::Kind::kNil));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const Value value, call.Get(0));
  call.Return(Value(value.is_null()));
  return OkStatus();
}

Status RunNull(HostObject&, Call& call) {
  call.Return(Value(nullptr));
  return OkStatus();
}

Status RunCast(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const Value value, call.Get(0));
  ASSIGN_OR_RETURN(const std::string name, StringArgument(call, 1, "cast"));
  const auto type = lua::DataTypeNamed(name);
  if (!type) return BadArgument("cast", "the name of a type, such as int");
  ASSIGN_OR_RETURN(Value converted, lua::Convert(value, *type, SessionOf(object).zone()));
  call.Return(std::move(converted));
  return OkStatus();
}

Status RunCopyRow(HostObject&, Call& call) {
  ASSIGN_OR_RETURN(Value row, call.Get(0));
  call.ReturnRow(std::move(row));
  return OkStatus();
}

// The function fails with this text.
Status RunUdfError(HostObject&, Call& call) {
  ASSIGN_OR_RETURN(const std::string text, StringArgument(call, 0, "udf_error"));
  return Error(Code::kInvalidArgument, "procedure.returned", "{}", text);
}

Status RunTableToJson(HostObject&, Call& call) {
  if (call.kind(0) != lua::Kind::kTable) return BadArgument("table_to_json", "a table");
  ASSIGN_OR_RETURN(const Value given, call.Get(1));
  ASSIGN_OR_RETURN(const JsonOptions options, JsonOptionsOf(given));
  ASSIGN_OR_RETURN(const Value table, call.GetAnnotated(0));
  const JsonText made = TextOfAnnotated(table, options);
  call.Return(made.ok ? Value(made.text) : Value());
  call.Return(Value(made.code));
  return OkStatus();
}

Status RunJsonToTable(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  ASSIGN_OR_RETURN(const std::string text, StringArgument(call, 0, "json_to_table"));
  ASSIGN_OR_RETURN(const Value given, call.Get(1));
  ASSIGN_OR_RETURN(const JsonOptions options, JsonOptionsOf(given));
  auto value = json::Parse(text);
  if (value && options.type_annotate) value = FromAnnotated(*value, session.zone());
  if (!value) {
    call.Return(Value());
    call.Return(Value(session.Note(value.error())));
    return OkStatus();
  }
  call.Return(std::move(*value));
  call.Return(Value(kOk));
  return OkStatus();
}

Status RunCsvToTable(HostObject&, Call& call) {
  ASSIGN_OR_RETURN(const std::string text, StringArgument(call, 0, "csv_to_table"));
  ASSIGN_OR_RETURN(Value rows, ParseCsv(text));
  // Of one line, as Comdb2 has it, the row itself.
  call.Return(rows.size() == 1 ? rows.items()[0] : std::move(rows));
  return OkStatus();
}

std::string NewGuid() {
  static thread_local std::random_device device;
  std::string bytes;
  while (bytes.size() < kGuidBytes) {
    const uint32_t word = device();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  return bytes;
}

Status RunGuid(HostObject&, Call& call) {
  call.Return(Value::Bytes(NewGuid()));
  return OkStatus();
}

// A new one, or the text of one that is given.
Status RunGuidText(HostObject&, Call& call) {
  ASSIGN_OR_RETURN(const Value given, call.Get(0));
  const Value guid = given.is_missing() ? Value::Bytes(NewGuid()) : given;
  if (!guid.is_bytes() || guid.AsBytes().size() != kGuidBytes) {
    return BadArgument("guid_str", "a blob of 16 bytes");
  }
  std::string text = lua::TextOf(guid, {}, 3);
  for (const size_t at : {8, 13, 18, 23}) text.insert(at, 1, '-');
  call.Return(Value(text));
  return OkStatus();
}

Status SleepMs(Call& call, int64_t ms) {
  for (; ms > 0 && !call.ended(); ms -= kSleepSliceMs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(ms, kSleepSliceMs)));
  }
  call.Spend(1);
  call.Return(Value(kOk));
  return OkStatus();
}

Status RunSleep(HostObject&, Call& call) {
  ASSIGN_OR_RETURN(const int64_t seconds, IntegerArgument(call, 0, "sleep"));
  return SleepMs(call, std::min<int64_t>(seconds, 86'400) * 1000);
}

Status RunSleepMs(HostObject&, Call& call) {
  ASSIGN_OR_RETURN(const int64_t ms, IntegerArgument(call, 0, "sleepms"));
  return SleepMs(call, std::min<int64_t>(ms, 86'400'000));
}

Status RunPrint(HostObject& object, Call& call) {
  std::string line;
  for (size_t i = 0; i < call.size(); ++i) {
    ASSIGN_OR_RETURN(const Value value, call.Get(i));
    line += (i == 0 ? "" : "\t") + lua::TextOf(value, SessionOf(object).zone(), 3);
  }
  log::Info("a procedure prints", {{"line", line}});
  return OkStatus();
}

Status RunSetMaxInstructions(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const int64_t most, IntegerArgument(call, 0, "setmaxinstructions"));
  if (most < kMinInstructions || most > kMaxInstructions) {
    return BadArgument("setmaxinstructions", "a number from 100 to 1000000000");
  }
  SessionOf(object).runtime->SetMaxInstructions(static_cast<uint64_t>(most));
  return OkStatus();
}

Status RunGetInstructionCount(HostObject& object, Call& call) {
  call.Return(Value(static_cast<int64_t>(SessionOf(object).runtime->instructions())));
  return OkStatus();
}

Status RunGetDbName(HostObject&, Call& call) {
  call.Return(Value("sluice"));
  return OkStatus();
}

Status RunGetTimeZone(HostObject& object, Call& call) {
  call.Return(Value(SessionOf(object).runtime->time_zone()));
  return OkStatus();
}

Status RunSetTimeZone(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const std::string name, StringArgument(call, 0, "settimezone"));
  if (!SessionOf(object).runtime->SetTimeZone(name)) {
    return BadArgument("settimezone", "the name of a time zone, such as America/New_York");
  }
  return OkStatus();
}

Status RunGetPrecision(HostObject& object, Call& call) {
  const bool fine = SessionOf(object).runtime->datetime_digits() == 6;
  call.Return(Value(fine ? "microsecond" : "millisecond"));
  return OkStatus();
}

Status RunSetPrecision(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const std::string name, StringArgument(call, 0, "setdatetimeprecision"));
  SessionOf(object).runtime->SetDatetimeDigits(IsFine(name) ? 6 : 3);
  return OkStatus();
}

}  // namespace

std::vector<lua::Method> ValueMethods() {
  return {{"now", RunNow},
          {"isnull", RunIsNull},
          {"null", RunNull},
          {"NULL", RunNull},
          {"cast", RunCast},
          {"copyrow", RunCopyRow},
          {"table_to_json", RunTableToJson},
          {"json_to_table", RunJsonToTable},
          {"csv_to_table", RunCsvToTable},
          {"udf_error", RunUdfError},
          {"guid", RunGuid},
          {"guid_str", RunGuidText}};
}

std::vector<lua::Method> SettingMethods() {
  return {{"sleep", RunSleep},
          {"sleepms", RunSleepMs},
          {"print", RunPrint},
          {"trace", RunPrint},
          {"setmaxinstructions", RunSetMaxInstructions},
          {"getinstructioncount", RunGetInstructionCount},
          {"getdbname", RunGetDbName},
          {"gettimezone", RunGetTimeZone},
          {"settimezone", RunSetTimeZone},
          {"getdatetimeprecision", RunGetPrecision},
          {"setdatetimeprecision", RunSetPrecision}};
}

}  // namespace sluice::procedure
