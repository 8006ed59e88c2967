#include "flow_engine/stream_task.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/wait_scope.h"
#include "flow/text_form.h"
#include "flow_engine/stream.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using Function = TaskOutput (*)(const BundleFiles& files, const TaskInput& input);

class StreamTask final : public TaskInstance {
 public:
  StreamTask(const BundleFiles& files, Function function) : files_(files), function_(function) {}
  TaskOutput Run(const TaskInput& input) override {
    if (input.streams == nullptr) return TaskOutput::Failure(400, "this call has no streams");
    const WaitScope waits;
    return function_(files_, input);
  }

 private:
  const BundleFiles& files_;
  const Function function_;
};

Result<std::string> TextOf(const TaskInput& input, std::string_view route, std::string_view name) {
  const Value& value = input.body[name];
  if (value.is_string()) return std::string(value.AsString());
  return Fail(Code::kInvalidArgument, "route.argument", "{}: expected a text '{}'", route, name);
}

Result<uint64_t> NumberOf(const TaskInput& input, std::string_view name, uint64_t fallback) {
  const Value& value = input.body[name];
  if (value.is_missing() || value.is_null()) return fallback;
  const auto number = flow::WholeNumberOf(value);
  if (number && *number >= 0) return static_cast<uint64_t>(*number);
  return Fail(Code::kInvalidArgument, "route.argument",
              "stream.read: expected '{}' as a number that is not negative", name);
}

// One piece, and where the next one begins; none at the end.
Result<TaskOutput> ReadPiece(const TaskInput& input) {
  ASSIGN_OR_RETURN(const std::string id, TextOf(input, "stream.read", "stream"));
  ASSIGN_OR_RETURN(const uint64_t offset, NumberOf(input, "offset", 0));
  ASSIGN_OR_RETURN(const uint64_t size, NumberOf(input, "size", script::kDefaultPieceBytes));
  ASSIGN_OR_RETURN(const script::StreamPiece piece, input.streams->ReadPiece(id, offset, size));
  const uint64_t next = offset + piece.bytes.size();
  TaskOutput output;
  output.body = Value::Object({{"data", Value::Bytes(piece.bytes)},
                               {"size", Value::Unsigned(piece.bytes.size())},
                               {"offset", Value::Unsigned(offset)},
                               {"next", Value::Unsigned(next)},
                               {"more", next < piece.total},
                               {"total", Value::Unsigned(piece.total)}});
  return output;
}

Result<TaskOutput> OpenFile(const BundleFiles& files, const TaskInput& input) {
  ASSIGN_OR_RETURN(const std::string path, TextOf(input, "stream.open", "file"));
  ASSIGN_OR_RETURN(const std::string real, files.PathOf(path));
  ASSIGN_OR_RETURN(const auto file, DiskFile::Open(real));
  ASSIGN_OR_RETURN(const std::string id, input.streams->Add(std::make_shared<Stream>(file)));
  TaskOutput output;
  output.body = Value::Object({{"stream", id}, {"size", Value::Unsigned(file->size())}});
  return output;
}

Status CopyTo(const Stream& stream, const std::string& path, const TaskInput& input) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  for (uint64_t offset = 0; offset < stream.size() && out;) {
    if (input.cancelled != nullptr && *input.cancelled) {
      return Error(Code::kTimeout, "flow.abandoned", "the caller no longer waits for the answer");
    }
    ASSIGN_OR_RETURN(const std::string piece, stream.Read(offset, script::kMaxPieceBytes));
    if (piece.empty()) break;
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    offset += piece.size();
  }
  out.close();
  if (out) return OkStatus();
  return Error(Code::kIo, "flow.file_unwritable", "can't write {}", path);
}

// The file is there as a whole or, when that fails, as it was.
Result<TaskOutput> SaveFile(const BundleFiles& files, const TaskInput& input) {
  ASSIGN_OR_RETURN(const std::string id, TextOf(input, "stream.save", "stream"));
  ASSIGN_OR_RETURN(const StreamPtr stream, input.streams->Find(id));
  ASSIGN_OR_RETURN(const std::string path, TextOf(input, "stream.save", "file"));
  ASSIGN_OR_RETURN(const std::string real, files.PathOf(path));
  const std::string made = real + ".part";
  std::error_code error;
  Status status = CopyTo(*stream, made, input);
  if (status.ok()) {
    std::filesystem::rename(made, real, error);
    if (error) {
      status =
          Error(Code::kIo, "flow.file_unwritable", "can't write {}: {}", path, error.message());
    }
  }
  if (!status.ok()) {
    std::filesystem::remove(made, error);
    return Unexpected(status);
  }
  TaskOutput output;
  output.body = Value::Object({{"file", path}, {"size", Value::Unsigned(stream->size())}});
  return output;
}

TaskOutput OutputOf(Result<TaskOutput> output) {
  return output ? std::move(*output) : TaskOutput::Failure(output.error());
}

}  // namespace

std::map<std::string, TaskMaker> StreamTasks(const BundleFiles& files) {
  const auto make = [&files](Function function) -> TaskMaker {
    return [&files, function]() -> Result<std::unique_ptr<TaskInstance>> {
      return std::make_unique<StreamTask>(files, function);
    };
  };
  return {{"stream.read", make([](const BundleFiles&, const TaskInput& input) {
             return OutputOf(ReadPiece(input));
           })},
          {"stream.open", make([](const BundleFiles& of, const TaskInput& input) {
             return OutputOf(OpenFile(of, input));
           })},
          {"stream.save", make([](const BundleFiles& of, const TaskInput& input) {
             return OutputOf(SaveFile(of, input));
           })}};
}

}  // namespace sluice::flow_engine
