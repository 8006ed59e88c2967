#include "function/under_way.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice::function {
namespace {

struct Head {
  uint32_t active;
  uint32_t kind;
  uint64_t number;
  uint32_t owner_bytes;
  uint32_t key_bytes;
};
constexpr size_t kMaxOwnerBytes = 512;

Head* HeadAt(char* slot) { return reinterpret_cast<Head*>(slot); }

std::unexpected<Status> Failed(const std::filesystem::path& path, std::string_view what) {
  return Fail(Code::kIo, "file.unwritable", "can't {} {}: {}", what, path.string(),
              std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<UnderWay>> UnderWay::Open(const std::filesystem::path& path) {
  constexpr size_t kBytes = kSlots * kSlotBytes;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return Failed(path, "open");
  const bool fits = lseek(file, 0, SEEK_END) == static_cast<off_t>(kBytes);
  // A page that the disk has no room for would end the process when it is written.
  const bool made = (fits || ftruncate(file, 0) == 0) &&
                    (errno = posix_fallocate(file, 0, static_cast<off_t>(kBytes))) == 0;
  void* const memory =
      made ? mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const int error = errno;
  close(file);
  errno = error;
  if (memory == MAP_FAILED) return Failed(path, "map");
  return std::unique_ptr<UnderWay>(new UnderWay(static_cast<char*>(memory)));
}

UnderWay::UnderWay(char* memory) : memory_(memory), taken_(std::vector<bool>(kSlots)) {
  for (size_t i = 0; i < kSlots; ++i) {
    char* const slot = At(i);
    const Head head = *HeadAt(slot);
    HeadAt(slot)->active = 0;
    const bool whole = head.owner_bytes <= kMaxOwnerBytes &&
                       sizeof(Head) + head.owner_bytes + head.key_bytes <= kSlotBytes;
    if (head.active != 1 || !whole) continue;
    const char* const text = slot + sizeof(Head);
    left_.push_back({std::string(text, head.owner_bytes), static_cast<Kind>(head.kind), head.number,
                     std::string(text + head.owner_bytes, head.key_bytes)});
  }
}

UnderWay::~UnderWay() { munmap(memory_, kSlots * kSlotBytes); }

UnderWay::Slot::Slot(UnderWay* file, std::string_view owner) {
  if (file == nullptr) return;
  {
    const auto taken = file->taken_.Lock();
    const auto free = std::find(taken->begin(), taken->end(), false);
    if (free == taken->end()) return;
    *free = true;
    index_ = static_cast<size_t>(free - taken->begin());
  }
  file_ = file;
  memory_ = file->At(index_);
  owner = owner.substr(0, kMaxOwnerBytes);
  HeadAt(memory_)->owner_bytes = static_cast<uint32_t>(owner.size());
  key_at_ = sizeof(Head) + owner.size();
  std::memcpy(memory_ + sizeof(Head), owner.data(), owner.size());
}

UnderWay::Slot::~Slot() {
  if (file_ == nullptr) return;
  End();
  (*file_->taken_.Lock())[index_] = false;
}

void UnderWay::Slot::Begin(Kind kind, uint64_t number, std::string_view key) {
  if (file_ == nullptr) return;
  key = key.substr(0, kSlotBytes - key_at_);
  Head* const head = HeadAt(memory_);
  head->kind = static_cast<uint32_t>(kind);
  head->number = number;
  head->key_bytes = static_cast<uint32_t>(key.size());
  std::memcpy(memory_ + key_at_, key.data(), key.size());
  std::atomic_ref(head->active).store(1, std::memory_order_release);
}

void UnderWay::Slot::End() {
  if (file_ == nullptr) return;
  std::atomic_ref(HeadAt(memory_)->active).store(0, std::memory_order_release);
}

}  // namespace sluice::function
