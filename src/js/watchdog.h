// Ends calls that run past their deadline. One thread for all runtimes, which looks every few
// milliseconds while any of them is at work and sleeps otherwise.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice::js {

inline constexpr uint64_t kNoDeadline = 0;

// What is watched. Arm and Disarm cost an uncontended lock.
class Watched {
 public:
  virtual ~Watched() = default;

  void Arm(uint64_t deadline_ns) {
    const std::lock_guard lock(mutex_);
    deadline_ns_ = deadline_ns;
  }
  // True when it was ended.
  bool Disarm() {
    const std::lock_guard lock(mutex_);
    deadline_ns_ = kNoDeadline;
    const bool ended = ended_;
    ended_ = false;
    return ended;
  }

 private:
  friend class Watchdog;
  virtual void End() = 0;  // must only signal

  void Look(uint64_t now_ns) {
    const std::lock_guard lock(mutex_);
    if (deadline_ns_ == kNoDeadline || now_ns < deadline_ns_ || ended_) return;
    ended_ = true;
    End();
  }

  std::mutex mutex_;
  uint64_t deadline_ns_ = kNoDeadline;  // guarded by mutex_
  bool ended_ = false;                  // guarded by mutex_
};

class Watchdog {
 public:
  static Watchdog& Get();

  // From Watch to Leave it is looked at. Deadlines are of the monotonic clock.
  void Watch(Watched* watched);
  void Leave(Watched* watched);

 private:
  Watchdog();
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Watched*> watched_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sluice::js
