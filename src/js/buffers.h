// Memory of ArrayBuffers, which V8 does not count as heap: bounded per isolate. Past the bound
// JavaScript gets a RangeError.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include <v8.h>

namespace sluice::js {

class BoundedBuffers final : public v8::ArrayBuffer::Allocator {
 public:
  explicit BoundedBuffers(uint64_t limit) : limit_(limit) {}

  void* Allocate(size_t size) override {
    return Take(size) ? Checked(calloc(size, 1), size) : nullptr;
  }
  void* AllocateUninitialized(size_t size) override {
    return Take(size) ? Checked(malloc(size), size) : nullptr;
  }
  void Free(void* data, size_t size) override {
    free(data);
    used_ -= size;
  }

 private:
  bool Take(size_t size) {
    if (used_.fetch_add(size) + size <= limit_) return true;
    used_ -= size;
    return false;
  }
  void* Checked(void* data, size_t size) {
    if (data == nullptr) used_ -= size;
    return data;
  }

  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};  // V8's own threads free buffers too
};

}  // namespace sluice::js
