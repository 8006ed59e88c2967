// A value that threads share. Nobody reaches it without its lock:
//
//   Locked<std::map<std::string, Plan>> plans_;
//
//   plans_.Lock()->erase(name);
//   {
//     const auto plans = plans_.Lock();  // held until the end of the block
//     if (!plans->contains(name)) plans->emplace(name, plan);
//   }
//
// For the pointer to immutable data that one thread replaces and many read:
//
//   Locked<std::shared_ptr<const App>> app_;
//   const std::shared_ptr<const App> app = app_.Copy();
//   app_.Set(std::move(changed));
//
// The lock is a leaf: a thread that holds it takes no other lock, waits for nothing and calls
// nothing that might. Builds with sanitizers check that. So it has no row in docs/locks.md, where
// the order of locks is told. Use Mutex (base/mutex.h) for a lock that needs an order or a
// condition.
#pragma once

#include <utility>

#include "base/mutex.h"

namespace sluice {

template <typename T>
class Locked {
 public:
  // The value, as long as the lock is held.
  template <typename Value>
  class [[nodiscard]] Access {
   public:
    Access(Mutex& mutex, Value& value) NO_THREAD_SAFETY_ANALYSIS : mutex_(mutex), value_(value) {
      mutex_.Lock();
      LeafLocks::Took();
    }
    ~Access() NO_THREAD_SAFETY_ANALYSIS {
      LeafLocks::Released();
      mutex_.Unlock();
    }
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

    Value* operator->() const { return &value_; }
    Value& operator*() const { return value_; }

   private:
    Mutex& mutex_;
    Value& value_;
  };

  Locked() = default;
  explicit Locked(T value) : value_(std::move(value)) {}

  Access<T> Lock() { return {mutex_, value_}; }
  Access<const T> Lock() const { return {mutex_, value_}; }

  T Copy() const { return *Lock(); }
  // The old value ends after the lock is released: its destructor may do anything.
  void Set(T value) { Exchange(std::move(value)); }
  T Exchange(T value) {
    std::swap(*Lock(), value);
    return value;
  }

 private:
  mutable Mutex mutex_;
  T value_{};
};

}  // namespace sluice
