// Ends calls that run past their deadline. One thread for all runtimes, which looks every few
// milliseconds while any of them is at work and sleeps otherwise.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice::js {

inline constexpr uint64_t kNoDeadline = 0;

// What is watched from when it is made until Leave. Arm and Disarm cost an uncontended lock.
class Watched {
 public:
  Watched();
  virtual ~Watched() = default;
  // Before what End needs is gone. Nothing ends it any more.
  void Leave();

  void Arm(uint64_t deadline_ns);
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

  // False when it is not armed.
  bool Look(uint64_t now_ns) {
    const std::lock_guard lock(mutex_);
    if (deadline_ns_ == kNoDeadline) return false;
    if (now_ns < deadline_ns_ || ended_) return true;
    ended_ = true;
    End();
    return true;
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
  // One was armed.
  void Wake() {
    if (sleeps_.load()) WakeUp();
  }

 private:
  Watchdog();
  void WakeUp();
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Watched*> watched_;  // guarded by mutex_
  std::atomic<bool> sleeps_ = true;
  std::thread thread_;
};

}  // namespace sluice::js
