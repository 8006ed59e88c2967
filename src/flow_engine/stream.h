// Streams: bodies that are too large for a value, kept on disk and read by pieces. Flows and
// functions know them by an id; each belongs to the run, or to the call, in which it was made, and
// ends with that and with the answer that sends it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/disk_file.h"
#include "base/locked.h"
#include "base/status.h"
#include "script/stream_source.h"

namespace sluice::flow_engine {

class AnswerPipe;

// Answers with this header have the stream of that id as their body.
inline constexpr std::string_view kStreamHeader = "x-stream-id";

// A part of a file. Immutable; any thread.
class Stream {
 public:
  Stream(std::shared_ptr<const DiskFile> file, uint64_t offset, uint64_t size)
      : file_(std::move(file)), offset_(offset), size_(size) {}
  explicit Stream(std::shared_ptr<const DiskFile> file) : Stream(file, 0, file->size()) {}

  uint64_t size() const { return size_; }
  // Less than `size` at the end only. Errors file.unreadable.
  Result<std::string> Read(uint64_t offset, size_t size) const;

 private:
  const std::shared_ptr<const DiskFile> file_;
  const uint64_t offset_;
  const uint64_t size_;
};
using StreamPtr = std::shared_ptr<const Stream>;

// Error flow.no_stream.
Status NoStream(std::string_view id);

// Those of a run or call. Any thread.
class StreamScope final : public script::StreamSource {
 public:
  static constexpr size_t kMost = 1000;

  // Its id, which no other stream has, also after a restart. Error flow.too_many_streams.
  Result<std::string> Add(StreamPtr stream);
  // Error flow.no_stream.
  Result<StreamPtr> Find(std::string_view id) const;
  Result<script::StreamPiece> ReadPiece(std::string_view id, uint64_t offset,
                                        uint64_t size) const override;
  bool empty() const;

  // Where the answer goes if it is passed on while it arrives; null: nowhere. Set before the call.
  const std::shared_ptr<AnswerPipe>& pipe() const { return pipe_; }
  void set_pipe(std::shared_ptr<AnswerPipe> pipe) { pipe_ = std::move(pipe); }

 private:
  Locked<std::map<std::string, StreamPtr, std::less<>>> streams_;  // by id
  std::shared_ptr<AnswerPipe> pipe_;
};

}  // namespace sluice::flow_engine
