#include "route/pool.h"

namespace sluice::route {

bool Pool::Post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    jobs_.push_back(std::move(job));
    if (idle_ < jobs_.size() && threads_.size() < most_threads_) {
      threads_.emplace_back([this] { Loop(); });
    }
  }
  wake_.notify_one();
  return true;
}

void Pool::Stop() {
  std::deque<Job> dropped;
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(jobs_);
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void Pool::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (stopping_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace sluice::route
