#include "route/stream.h"

#include <algorithm>

namespace sluice::route {

Result<std::string> Stream::Read(uint64_t offset, size_t size) const {
  if (offset >= size_) return std::string();
  return file_->Read(offset_ + offset,
                     static_cast<size_t>(std::min<uint64_t>(size, size_ - offset)));
}

Result<std::string> StreamScope::Add(StreamPtr stream) {
  const std::lock_guard lock(mutex_);
  if (streams_.size() >= kMost) {
    return Fail(Code::kOverloaded, "flow.too_many_streams", "a run may have {} streams", kMost);
  }
  std::string id = fmt::format("stream-{}", streams_.size() + 1);
  streams_.emplace(id, std::move(stream));
  return id;
}

bool StreamScope::empty() const {
  const std::lock_guard lock(mutex_);
  return streams_.empty();
}

StreamPtr StreamScope::Find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second;
}

}  // namespace sluice::route
