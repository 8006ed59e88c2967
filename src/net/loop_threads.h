// The threads of one I/O loop. One of them has the loop and does its work; the others are spare, or
// lost it. Code of users runs on the thread that has the loop, between its events: most of it ends
// within microseconds, and handing it to another thread would cost as much as running it. When it
// waits (a WaitScope says so) or takes long (the watchdog sees it), another thread takes the loop
// over, and the loop's connections go on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "base/watchdog.h"

namespace sluice::net {

class LoopThreads final : private Watched {
 public:
  using Job = std::move_only_function<void()>;

  // A job that takes longer loses the loop.
  static constexpr uint64_t kLongNs = 2'000'000;
  // The most threads that have lost the loop and still run their job. While there are as many, no
  // job begins.
  static constexpr size_t kMostLost = 128;

  // `work` is called on the thread that gets the loop. It does the loop's work, and returns when
  // Run has returned false or the loop has ended.
  LoopThreads(const Clock& clock, std::function<void()> work);
  ~LoopThreads() override;

  void Start();
  // Waits until the work, which the caller has told to end, and all jobs have returned.
  void Join();

  // On the thread that has the loop. False: the thread has lost the loop meanwhile.
  bool Run(Job job);
  // Whether a job may begin: another thread could take the loop over from it.
  bool can_run() const { return lost_ < kMostLost; }

  // Any thread: whether the calling one has the loop.
  bool Mine() const { return current_ != nullptr && owner_.load() == current_; }

 private:
  class Worker;
  static thread_local Worker* current_;  // the calling thread; null: it belongs to no loop

  void Live(Worker& worker);
  void GiveAway() REQUIRES(mutex_);
  // Takes the loop from a job that takes long. False when nothing has run since the last look.
  bool Look(uint64_t) override;

  const Clock& clock_;
  const std::function<void()> work_;
  std::atomic<size_t> lost_ = 0;

  Mutex mutex_;
  std::atomic<Worker*> owner_ = nullptr;  // has the loop; changes under the mutex
  std::vector<std::unique_ptr<Worker>> workers_ GUARDED_BY(mutex_);
  std::vector<Worker*> spare_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace sluice::net
