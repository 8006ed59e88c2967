#include "net/worker_pool.h"

#include <system_error>

namespace sluice::net {

WorkerPool::WorkerPool(std::string_view kind, size_t threads, size_t max_queued)
    : kind_(kind), max_queued_(max_queued), most_active_(threads) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back(ThreadName{kind_}, [this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (Thread& thread : threads_) thread.join();
}

bool WorkerPool::TrySubmit(std::move_only_function<void()> job) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= max_queued_ || stopping_) return false;
    queue_.push_back(std::move(job));
    wake = ShouldWake();
  }
  if (wake) wake_.notify_one();
  return true;
}

void WorkerPool::Lend() {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    ++most_active_;
    if (threads_.size() < most_active_ && !stopping_) AddThread();
    wake = ShouldWake();
  }
  if (wake) wake_.notify_one();
}

void WorkerPool::GiveBack() {
  const std::lock_guard lock(mutex_);
  --most_active_;
}

void WorkerPool::AddThread() {
  try {
    threads_.emplace_back(ThreadName{kind_}, [this] { Run(); });
  } catch (const std::system_error&) {
    // The system has no more; those that there are do the work.
  }
}

bool WorkerPool::ShouldWake() {
  if (idle_ == 0 || waking_ || !MayTake()) return false;
  waking_ = true;
  return true;
}

void WorkerPool::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    while (!MayTake()) {
      if (stopping_ && queue_.empty()) {
        wake_.notify_all();  // those that waited for a place
        return;
      }
      ++idle_;
      wake_.wait(lock);
      --idle_;
      waking_ = false;
    }
    std::move_only_function<void()> job = std::move(queue_.front());
    queue_.pop_front();
    ++active_;
    const bool wake = ShouldWake();
    lock.unlock();
    if (wake) wake_.notify_one();
    job();
    job = nullptr;  // what it holds is let go outside the lock
    lock.lock();
    --active_;
  }
}

Status OverloadedError() {
  return Error(Code::kOverloaded, "http.overloaded",
               "too many requests are waiting for a worker; try again");
}

Status CancelledError() {
  return Error(Code::kCancelled, "http.cancelled", "the client has gone or the server is stopping");
}

}  // namespace sluice::net
