#include "rest/flow_upload.h"

#include "base/utf8.h"
#include "rest/multipart.h"
#include "rest/repeated_field.h"

namespace sluice::rest {
namespace {

using json::Value;

constexpr size_t kMaxFieldBytes = 1 << 20;  // of a plain field of a body on disk

bool IsTextType(std::string_view type) { return type.starts_with("text/"); }

// What the file is: its bytes, or a stream of them.
struct FileContent {
  std::string_view name;  // body, stream
  Value value;
};

Status AddParts(const std::vector<Part>& parts, const auto& content_of, Value* dataset,
                Value* query) {
  Value files = Value::EmptyArray();
  for (const Part& part : parts) {
    if (part.filename.empty()) {
      RETURN_IF_ERROR(AddQueryPair(part.name, part.body, query));
      continue;
    }
    ASSIGN_OR_RETURN(const FileContent content, content_of(part));
    if (files.size() == 0) {
      dataset->Set("filename", TextOrBytes(part.filename));
      dataset->Set("size", Value::Unsigned(part.body.size()));
      dataset->Set(content.name, content.value);
    }
    Value file = Value::Object({{"name", TextOrBytes(part.name)},
                                {"filename", TextOrBytes(part.filename)},
                                {"content_type", TextOrBytes(part.content_type)},
                                {"size", Value::Unsigned(part.body.size())}});
    file.Set(content.name, content.value);
    files.Append(std::move(file));
  }
  dataset->Set("parts", std::move(files));
  return OkStatus();
}

Status AddSpooledParts(const Request& request, flow_engine::StreamScope* streams, Value* dataset,
                       Value* query) {
  const std::shared_ptr<DiskFile>& file = request.spooled();
  ASSIGN_OR_RETURN(const DiskFile::View view, file->Map());
  ASSIGN_OR_RETURN(const std::vector<Part> parts,
                   ParseMultipart(*request.FindHeader("content-type"), view.bytes()));
  for (const Part& part : parts) {
    if (part.filename.empty() && part.body.size() > kMaxFieldBytes) {
      return Error(Code::kInvalidArgument, "flow.bad_body",
                   "field '{}' has more than {} bytes and is not a file", part.name,
                   kMaxFieldBytes);
    }
  }
  const auto content_of = [&](const Part& part) -> Result<FileContent> {
    const auto offset = static_cast<uint64_t>(part.body.data() - view.bytes().data());
    ASSIGN_OR_RETURN(const std::string id, streams->Add(std::make_shared<flow_engine::Stream>(
                                               file, offset, part.body.size())));
    return FileContent{"stream", Value(id)};
  };
  return AddParts(parts, content_of, dataset, query);
}

}  // namespace

Status AddQueryPair(std::string_view name, std::string_view value, Value* query) {
  if (!IsValidUtf8(name) || !IsValidUtf8(value)) {
    return Error(Code::kInvalidArgument, "flow.bad_body", "a parameter or field is not UTF-8");
  }
  AddRepeated(name, Value(value), query);
  return OkStatus();
}

Value TextOrBytes(std::string_view bytes) {
  return IsValidUtf8(bytes) ? Value(bytes) : Value::Bytes(bytes);
}

Status AddUpload(const Request& request, flow_engine::StreamScope* streams, Value* dataset,
                 Value* query) {
  if (request.spooled() != nullptr) return AddSpooledParts(request, streams, dataset, query);
  ASSIGN_OR_RETURN(const std::vector<Part> parts,
                   ParseMultipart(*request.FindHeader("content-type"), request.body()));
  const auto content_of = [](const Part& part) -> Result<FileContent> {
    return FileContent{
        "body", IsTextType(part.content_type) ? TextOrBytes(part.body) : Value::Bytes(part.body)};
  };
  return AddParts(parts, content_of, dataset, query);
}

Status AddSpooled(const Request& request, flow_engine::StreamScope* streams, Value* dataset) {
  ASSIGN_OR_RETURN(const std::string id,
                   streams->Add(std::make_shared<flow_engine::Stream>(request.spooled())));
  dataset->Set("stream", Value(id));
  dataset->Set("size", Value::Unsigned(request.spooled()->size()));
  return OkStatus();
}

}  // namespace sluice::rest
