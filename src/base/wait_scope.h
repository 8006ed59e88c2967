// A thread tells that it waits, for a disk, the network or another thread, to whoever gave it work
// and can let another thread work meanwhile.
//
//   {
//     const WaitScope waits;
//     semaphore.acquire();
//   }
#pragma once

namespace sluice {

// Hears of the waits of the threads that it is set for. Called on those threads.
class WaitObserver {
 public:
  virtual ~WaitObserver() = default;
  virtual void OnWait() = 0;
  virtual void OnResume() = 0;
};

// Of this thread; null when nobody cares.
inline thread_local WaitObserver* wait_observer = nullptr;

class WaitScope {
 public:
  WaitScope() : observer_(wait_observer) {
    // A wait within a wait is one.
    wait_observer = nullptr;
    if (observer_ != nullptr) observer_->OnWait();
  }
  ~WaitScope() {
    if (observer_ != nullptr) observer_->OnResume();
    wait_observer = observer_;
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  WaitObserver* const observer_;
};

}  // namespace sluice
