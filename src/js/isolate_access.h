// Lets threads use an isolate in turn. V8 in this header: only for files of this module.
//
// V8's headers say that threads which take turns must show that to V8 with v8::Locker. This class
// does not use it, for two reasons. A Locker clears the interrupts that V8 has requested of the
// isolate, and one of them is the request to install optimised code: code that was finished between
// two sessions is never used. And a Locker costs more: a session with one call that takes 1.28 µs
// took 1.57 µs with it.
//
// V8 accepts an isolate for which no Locker was ever made; it then leaves the order of threads to
// the embedder (its check "Entering the V8 API without proper locking in place" looks at that).
// Don't make a Locker for an isolate of a Runtime. The rest of what a Locker does is done here, or
// has nothing to do:
// - One thread at a time, and its writes are visible to the next one: the mutex. A Turn is held for
//   a whole session.
// - The id of the thread, and its entry in the isolate's table of threads: Isolate::Enter sets them
//   on each turn. V8 frees an entry with the isolate. Our threads live in bounded pools, so the
//   table is bounded, too.
// - The limit of the stack: a Turn sets it from its own frame on. Calls and garbage collections are
//   always inside of a Turn.
// - The thread's handles, its exception, its context and its frames: a Locker archives them for a
//   thread that leaves an isolate in the middle of its work (v8::Unlocker). There are none when a
//   Turn ends, because every HandleScope, TryCatch and Context::Scope of a call is inside of the
//   call.
// - Requested interrupts stay with the isolate, and the thread of the next turn handles them. They
//   concern the isolate, not the thread: installing code, collecting garbage, ending the call,
//   debugger messages.
//
// These are facts about V8 10.2, which engine.cc requires. Check them again before another version
// is used: src/execution/v8threads.cc (Locker, ThreadManager::RestoreThread, FreeThreadResources),
// Isolate::Enter, and StackGuard::InitThread. The tests that watch them are
// FunctionsAreOptimisedThoughSessionsAreShort, DeepRecursionThrows and
// IsolatesMoveBetweenThreadsWhileGarbageIsCollected in runtime_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include <v8.h>

#include "base/mutex.h"

namespace sluice::js {

class IsolateAccess {
 public:
  explicit IsolateAccess(size_t stack_bytes) : stack_bytes_(stack_bytes) {}

  // Call it before the first turn.
  void SetIsolate(v8::Isolate* isolate) { isolate_ = isolate; }

  // While it lives, its thread has the isolate. A thread has at most one turn of an isolate.
  class Turn {
   public:
    // The analysis does not see that a member holds the mutex.
    explicit Turn(IsolateAccess& access) NO_THREAD_SAFETY_ANALYSIS : lock_(access.mutex_),
                                                                     scope_(access.isolate_) {
      access.LimitStack(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const MutexLock lock_;
    const v8::Isolate::Scope scope_;
  };

 private:
  // An address near the last one changes nothing.
  void LimitStack(uintptr_t here) REQUIRES(mutex_) {
    constexpr uintptr_t kNear = 16 << 10;
    if (here - stack_begin_ + kNear < 2 * kNear) return;
    stack_begin_ = here;
    isolate_->SetStackLimit(here - stack_bytes_);
  }

  const size_t stack_bytes_;
  v8::Isolate* isolate_ = nullptr;
  Mutex mutex_;
  uintptr_t stack_begin_ GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::js
