// A small file in which workers note their running calls. It outlives the process: the next process
// reads which calls were running when this one ended.
//
// Operation: the file is mapped; a worker copies the name of its event into a slot of its own
// before it calls the handler and marks the slot free afterwards. Nothing is synced: the kernel
// keeps written pages when a process dies. (After a power cut the file may have any content; then
// only a count is wrong.) Format: slots of kSlotBytes, numbers in the machine's byte order: u32 1
// if the slot is under way and 0 if not, u32 kind, u64 number, u32 bytes of the owner, u32 bytes of
// the key, owner, key. Names that are too long are cut. A file of another size is made anew.
// Concurrency: slots are taken and given back by any thread; one is used by one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/locked.h"
#include "base/status.h"

namespace sluice::function {

class UnderWay {
 public:
  // kRun: a call of a durable flow's run; the owner is the run, the key the route.
  enum class Kind : uint32_t { kDocument = 1, kTimer = 2, kRun = 3 };
  struct Entry {
    std::string owner;
    Kind kind = Kind::kDocument;
    uint64_t number = 0;  // tells events of the same key apart
    std::string key;
    bool operator==(const Entry&) const = default;
  };

  // Reads the entries that the process before has left, and clears them.
  static Result<std::unique_ptr<UnderWay>> Open(const std::filesystem::path& path);
  ~UnderWay();
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  const std::vector<Entry>& left() const { return left_; }

  // The slot of one owner. Without a file, or when all slots are taken, it does nothing.
  class Slot {
   public:
    Slot(UnderWay* file, std::string_view owner);
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    void Begin(Kind kind, uint64_t number, std::string_view key);
    void End();

   private:
    UnderWay* file_ = nullptr;
    size_t index_ = 0;
    char* memory_ = nullptr;
    size_t key_at_ = 0;
  };

 private:
  static constexpr size_t kSlots = 1024;
  static constexpr size_t kSlotBytes = 1024;

  explicit UnderWay(char* memory);
  char* At(size_t index) const { return memory_ + index * kSlotBytes; }

  char* const memory_;
  std::vector<Entry> left_;
  Locked<std::vector<bool>> taken_;  // by slot
};

}  // namespace sluice::function
