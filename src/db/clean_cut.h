// Lets snapshots see a change of several shards as a whole. The change is stored shard by shard; a
// snapshot that is taken meanwhile waits for its end.
//
// Concurrency: one thread begins and ends changes, any thread takes snapshots.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/mutex.h"
#include "base/wait_scope.h"

namespace sluice::db {

class CleanCut {
 public:
  void Begin() { ++changes_; }
  void End() {
    const MutexLock lock(mutex_);
    ++changes_;
    ended_.NotifyAll();
  }

  // What `take` gives outside of all changes. If a change takes longer than kMostWait, because the
  // disk is full or a journal does not answer, reading goes on: then the result may have a part of
  // that change only.
  template <typename Take>
  auto Outside(Take take) {
    while (true) {
      const uint64_t before = changes_.load();
      const bool ended = before % 2 == 0 || WaitForEnd(before);
      auto taken = take();
      if (!ended || changes_.load() <= before + before % 2) return taken;
    }
  }

 private:
  static constexpr std::chrono::seconds kMostWait{2};

  bool WaitForEnd(uint64_t before) {
    const WaitScope waits;
    const MutexLock lock(mutex_);
    return ended_.WaitFor(lock, kMostWait, [&] { return changes_.load() != before; });
  }

  std::atomic<uint64_t> changes_{0};  // odd while there is one
  Mutex mutex_;
  CondVar ended_;
};

}  // namespace sluice::db
