// Marks a part of the code in which the thread waits for a disk, the network or another thread. The
// pool that gave the thread its work can run another thread in that time.
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

// The observer of this thread; may be null.
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
