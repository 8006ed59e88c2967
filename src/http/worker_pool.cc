#include "http/worker_pool.h"

namespace sluice::http {

WorkerPool::WorkerPool(size_t threads, size_t max_queued) : max_queued_(max_queued) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
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

bool WorkerPool::ShouldWake() {
  if (idle_ == 0 || waking_ || queue_.empty()) return false;
  waking_ = true;
  return true;
}

void WorkerPool::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    while (queue_.empty() && !stopping_) {
      ++idle_;
      wake_.wait(lock);
      --idle_;
      waking_ = false;
    }
    if (queue_.empty()) return;
    std::move_only_function<void()> job = std::move(queue_.front());
    queue_.pop_front();
    const bool wake = ShouldWake();
    lock.unlock();
    if (wake) wake_.notify_one();
    job();
    job = nullptr;  // what it holds is let go outside the lock
    lock.lock();
  }
}

Status OverloadedError() {
  return Error(Code::kOverloaded, "http.overloaded",
               "too many requests are waiting for a worker; try again");
}

Handler Blocking(std::function<void(Request&, Response&)> function) {
  return [function = std::move(function)](Request& request, Response& response) -> Task<> {
    const Status ran = co_await RunBlocking(request, [&] { function(request, response); });
    if (!ran.ok()) response.Error(ran);
  };
}

}  // namespace sluice::http
