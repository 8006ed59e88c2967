// For tests: a request without a connection. Its loop is the thread that waits in Await.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "base/pool.h"
#include "net/exchange.h"
#include "net/task.h"

namespace sluice::net {

// Posted functions wait until somebody runs them.
class QueueLoop final : public Loop {
 public:
  void Post(std::move_only_function<void()> run) override {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(run));
    }
    wake_.notify_one();
  }
  void Run(std::move_only_function<void()> job) override { Post(std::move(job)); }

  // Waits for the next one and runs it.
  void RunOne() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return !posted_.empty(); });
    std::move_only_function<void()> run = std::move(posted_.front());
    posted_.pop_front();
    lock.unlock();
    run();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::move_only_function<void()>> posted_;  // guarded by mutex_
};

class TestExchange final : public Exchange {
 public:
  const std::shared_ptr<Loop>& loop() const override { return handle_; }
  Pool& workers() const override { return *workers_; }

  // Runs the task to its end.
  template <typename T>
  T Await(Task<T> task) {
    task.Start();
    while (!task.done()) loop_->RunOne();
    return task.Take();
  }
  // The client leaves when the task has come to its first wait.
  template <typename T>
  T AwaitAfterLeaving(Task<T> task) {
    task.Start();
    Cancel();
    while (!task.done()) loop_->RunOne();
    return task.Take();
  }

 private:
  void OnSuspend() override {}
  void OnResumed() override {}

  const std::shared_ptr<QueueLoop> loop_ = std::make_shared<QueueLoop>();
  const std::shared_ptr<Loop> handle_ = loop_;
  const std::unique_ptr<Pool> workers_ =
      std::make_unique<Pool>(PoolOptions{.kind = "test", .most_threads = 2, .most_queued = 100});
};

}  // namespace sluice::net
