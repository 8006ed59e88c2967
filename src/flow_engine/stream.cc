#include "flow_engine/stream.h"

#include <algorithm>

#include "base/random.h"
#include "base/wait_scope.h"

namespace sluice::flow_engine {

Result<std::string> Stream::Read(uint64_t offset, size_t size) const {
  if (offset >= size_) return std::string();
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(size, size_ - offset));
  ASSIGN_OR_RETURN(std::string bytes, file_->Read(offset_ + offset, wanted));
  if (bytes.size() == wanted) return bytes;
  return Fail(Code::kIo, "file.unreadable", "the file of a stream has become shorter");
}

Result<std::string> StreamScope::Add(StreamPtr stream) {
  std::string id = "stream-" + NewUuid();
  const auto streams = streams_.Lock();
  if (streams->size() >= kMost) {
    return Fail(Code::kOverloaded, "flow.too_many_streams", "a run may have {} streams", kMost);
  }
  streams->emplace(id, std::move(stream));
  return id;
}

bool StreamScope::empty() const { return streams_.Lock()->empty(); }

Result<StreamPtr> StreamScope::Find(std::string_view id) const {
  const auto streams = streams_.Lock();
  const auto found = streams->find(id);
  if (found != streams->end()) return found->second;
  return Unexpected(NoStream(id));
}

Result<script::StreamPiece> StreamScope::ReadPiece(std::string_view id, uint64_t offset,
                                                   uint64_t size) const {
  ASSIGN_OR_RETURN(const StreamPtr stream, Find(id));
  if (size < 1 || size > script::kMaxPieceBytes) {
    return Fail(Code::kInvalidArgument, "route.argument",
                "a piece of a stream has from 1 to {} bytes, {} were asked for",
                script::kMaxPieceBytes, size);
  }
  const WaitScope waits;
  ASSIGN_OR_RETURN(std::string bytes, stream->Read(offset, static_cast<size_t>(size)));
  return script::StreamPiece{std::move(bytes), stream->size()};
}

// The id of the error is in the text, since that is all that an answer has.
Status NoStream(std::string_view id) {
  return Error(Code::kNotFound, "flow.no_stream",
               "this run has no stream '{}' (flow.no_stream): a stream ends with its run, and is "
               "not kept when the server restarts",
               id);
}

}  // namespace sluice::flow_engine
