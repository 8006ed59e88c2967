// Threads that run jobs.
//
// Only some jobs run at once (most_running); more would only take turns on the processors. A job
// that waits (a WaitScope says so, base/wait_scope.h) or that takes long (the watchdog sees it) no
// longer counts as running, so that another one runs beside it. There are at most most_threads
// threads; further jobs wait in the queue. In a pool with as many threads as jobs that may run,
// every job counts until its end.
//
// A thread is started when there is a job for it and no other thread is free. It stays until the
// pool stops.
//
// Concurrency: any thread. A job must not stop its own pool. The lock is a leaf.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "base/watchdog.h"

namespace sluice {

struct PoolOptions {
  // The names of its threads (base/thread.h).
  std::string_view kind;
  std::string owner = {};
  size_t most_threads = 1;
  size_t most_running = SIZE_MAX;  // as many as there are threads
  size_t most_queued = SIZE_MAX;
  // After this time a job takes long.
  std::chrono::milliseconds long_time{40};
};

class Pool final : private Watched {
 public:
  using Job = std::move_only_function<void()>;

  // The number of jobs that keep all processors of this machine busy.
  static size_t Processors();

  explicit Pool(PoolOptions options, Watchdog& watchdog = Watchdog::OfProcess());
  // Runs the jobs that wait, unless Stop has dropped them.
  ~Pool() override;

  // False when the pool has stopped or its queue is full: the job is dropped.
  bool Post(Job job);
  // Waits for the jobs that run, and drops the jobs that wait.
  void Stop();

 private:
  class Worker;

  bool Look(uint64_t) override;
  void WorkLoop(Worker& worker);
  Job TakeJob(Worker& worker) REQUIRES(mutex_);
  void Join();
  // Lets one more worker run when there is work for it, which counts from now on. When it returns
  // true, the caller notifies wake_ once, after it has released the mutex.
  [[nodiscard]] bool Grow() REQUIRES(mutex_);
  void AddWorker() REQUIRES(mutex_);
  [[nodiscard]] bool Uncount(Worker& worker) REQUIRES(mutex_);
  void Count(Worker& worker) REQUIRES(mutex_);

  const PoolOptions options_;
  const bool adds_threads_;  // beside those that run: for jobs that wait or take long
  const uint64_t long_looks_;

  Mutex mutex_;
  CondVar wake_;
  std::deque<Job> jobs_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Worker>> workers_ GUARDED_BY(mutex_);
  size_t idle_ GUARDED_BY(mutex_) = 0;  // workers that wait for a job
  // One of them was called and is on its way. When it has taken a job it calls the next one if
  // there are more jobs: to wake a thread costs as much as a short job.
  bool called_ GUARDED_BY(mutex_) = false;
  // Workers that have a job and count, those that look for one, and the one that was called.
  size_t running_ GUARDED_BY(mutex_) = 0;
  uint64_t looks_ GUARDED_BY(mutex_) = 0;  // of the watchdog
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace sluice
