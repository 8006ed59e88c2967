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

// What is watched from when it is made until Leave. Arm and Disarm cost an atomic operation each.
class Watched {
 public:
  Watched();
  virtual ~Watched() = default;
  // Before what End needs is gone. Nothing ends it any more.
  void Leave();

  void Arm(uint64_t deadline_ns);
  // True when it was ended. What ends it has done so then.
  bool Disarm() {
    uint64_t deadline_ns = deadline_ns_.load();
    while (deadline_ns == kEnding ||
           !deadline_ns_.compare_exchange_weak(deadline_ns, kNoDeadline)) {
      deadline_ns = deadline_ns_.load();
    }
    return deadline_ns == kEnded;
  }

 private:
  friend class Watchdog;
  virtual void End() = 0;  // must only signal

  // False when it is not armed.
  bool Look(uint64_t now_ns) {
    uint64_t deadline_ns = deadline_ns_.load();
    if (deadline_ns == kNoDeadline) return false;
    if (now_ns < deadline_ns) return true;
    if (deadline_ns_.compare_exchange_strong(deadline_ns, kEnding)) {
      End();
      deadline_ns_ = kEnded;
    }
    return true;
  }

  // Later than any time.
  static constexpr uint64_t kEnding = UINT64_MAX - 1;
  static constexpr uint64_t kEnded = UINT64_MAX;
  std::atomic<uint64_t> deadline_ns_ = kNoDeadline;
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
