// Mutexes whose rules the compiler checks. Say what a mutex guards where the data is declared, and
// which functions need it held:
//
//   int Take() REQUIRES(mutex_);
//   mutable Mutex mutex_;
//   CondVar changed_;
//   std::deque<Job> jobs_ GUARDED_BY(mutex_);
//
//   const MutexLock lock(mutex_);
//   changed_.Wait(lock, [this]() REQUIRES(mutex_) { return !jobs_.empty(); });
//
// clang checks this as it compiles the builds with sanitizers; g++ reads past the words.
// docs/locks.md has a row for each mutex: in which order they are taken.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

#ifdef __clang__
#define SLUICE_THREAD_SAFETY(x) __attribute__((x))
#else
#define SLUICE_THREAD_SAFETY(x)
#endif
#define CAPABILITY(x) SLUICE_THREAD_SAFETY(capability(x))
#define SCOPED_CAPABILITY SLUICE_THREAD_SAFETY(scoped_lockable)
#define GUARDED_BY(x) SLUICE_THREAD_SAFETY(guarded_by(x))
#define PT_GUARDED_BY(x) SLUICE_THREAD_SAFETY(pt_guarded_by(x))
#define REQUIRES(...) SLUICE_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) SLUICE_THREAD_SAFETY(requires_shared_capability(__VA_ARGS__))
#define EXCLUDES(...) SLUICE_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) SLUICE_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) SLUICE_THREAD_SAFETY(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) SLUICE_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...) SLUICE_THREAD_SAFETY(release_generic_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) SLUICE_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define ASSERT_CAPABILITY(x) SLUICE_THREAD_SAFETY(assert_capability(x))
// For a function that the analysis can't follow. Say why beside it.
#define NO_THREAD_SAFETY_ANALYSIS SLUICE_THREAD_SAFETY(no_thread_safety_analysis)

namespace sluice {

// Counts the leaves (base/locked.h) that this thread holds. The process ends when a thread takes a
// lock beside one: that is a deadlock that has not happened yet.
class LeafLocks {
 public:
  static void Took() { ++held; }
  static void Released() { --held; }
  static void MayTakeAnother() { CHECK(held == 0); }

 private:
  static inline thread_local int held = 0;
};

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ACQUIRE() {
    LeafLocks::MayTakeAnother();
    mutex_.lock();
  }
  void Unlock() RELEASE() { mutex_.unlock(); }
  bool TryLock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  // The caller holds it, and the analysis does not see that.
  void AssertHeld() const ASSERT_CAPABILITY(this) {}

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a mutex until its end, Unlock and Lock in between aside.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : lock_(mutex.mutex_, std::defer_lock) { Lock(); }
  ~MutexLock() RELEASE() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() RELEASE() { lock_.unlock(); }
  void Lock() ACQUIRE() {
    LeafLocks::MayTakeAnother();
    lock_.lock();
  }

 private:
  friend class CondVar;
  mutable std::unique_lock<std::mutex> lock_;
};

// A condition that threads wait for. Waits may end without a cause, so callers look again; the
// forms with a predicate do that.
class CondVar {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

  void Wait(const MutexLock& lock) { condition_.wait(lock.lock_); }
  template <typename Predicate>
  void Wait(const MutexLock& lock, Predicate holds) NO_THREAD_SAFETY_ANALYSIS {
    while (!holds()) Wait(lock);
  }

  // These also end at a time of the machine's clock. With a predicate: whether it holds then.
  template <typename TimePoint>
  void WaitUntil(const MutexLock& lock, TimePoint until) {
    condition_.wait_until(lock.lock_, until);
  }
  template <typename TimePoint, typename Predicate>
  bool WaitUntil(const MutexLock& lock, TimePoint until,
                 Predicate holds) NO_THREAD_SAFETY_ANALYSIS {
    while (!holds()) {
      if (condition_.wait_until(lock.lock_, until) == std::cv_status::timeout) return holds();
    }
    return true;
  }
  template <typename Duration>
  void WaitFor(const MutexLock& lock, Duration time) {
    WaitUntil(lock, std::chrono::steady_clock::now() + time);
  }
  template <typename Duration, typename Predicate>
  bool WaitFor(const MutexLock& lock, Duration time, Predicate holds) {
    return WaitUntil(lock, std::chrono::steady_clock::now() + time, std::move(holds));
  }

  // These end at a time of a clock, which a test may move: a thread that waits for an hour of a
  // FakeClock goes on as soon as the test has moved it by an hour.
  template <typename Predicate>
  bool WaitUntil(const MutexLock& lock, const Clock& clock, Clock::Time until,
                 Predicate holds) NO_THREAD_SAFETY_ANALYSIS {
    const auto until_ns = static_cast<uint64_t>(until.time_since_epoch().count());
    while (!holds()) {
      if (clock.MonotonicNs() >= until_ns) return false;
      clock.WaitUntil(condition_, lock.lock_, until_ns);
    }
    return true;
  }
  template <typename Predicate>
  bool WaitFor(const MutexLock& lock, const Clock& clock, std::chrono::nanoseconds time,
               Predicate holds) {
    return WaitUntil(lock, clock, clock.Now() + time, std::move(holds));
  }

 private:
  std::condition_variable condition_;
};

class CAPABILITY("mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

 private:
  friend class WriterLock;
  friend class ReaderLock;
  std::shared_mutex mutex_;
};

class SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~WriterLock() RELEASE() {}

 private:
  const std::lock_guard<std::shared_mutex> lock_;
};

class SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ACQUIRE_SHARED(mutex) : lock_(mutex.mutex_) {}
  ~ReaderLock() RELEASE_GENERIC() {}

 private:
  const std::shared_lock<std::shared_mutex> lock_;
};

}  // namespace sluice
