// Threads that run flows and the functions that they call.
//
// As many jobs run at once as there are cores; more would only take turns. A job that waits (a
// WaitScope says so) or that takes long (a watcher sees it) does not count among them, so that
// others go on. There are at most `most_threads` threads; work past that waits.
//
// Concurrency: any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/thread.h"

namespace sluice::flow_engine {

class Pool {
 public:
  using Job = std::move_only_function<void()>;

  // `name` is in the names of its threads (base/thread.h).
  Pool(std::string name, size_t most_threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // False after Stop: the job is dropped.
  bool Post(Job job);
  // Waits for what runs, and drops what waits.
  void Stop();

 private:
  class Worker;

  void WorkLoop(Worker& worker);
  void RunJobs(Worker& worker, std::unique_lock<std::mutex>& lock);
  void WatchLoop();
  // These need the mutex.
  void Grow();
  void Uncount(Worker& worker);
  void Count(Worker& worker);

  const std::string name_;
  const size_t most_threads_;
  const size_t most_running_;
  std::mutex mutex_;  // of all below
  std::condition_variable wake_;
  std::condition_variable watch_;
  std::deque<Job> jobs_;
  std::vector<std::unique_ptr<Worker>> workers_;
  size_t idle_ = 0;     // workers that wait for a job
  size_t called_ = 0;   // of these, those that were told to run
  size_t running_ = 0;  // workers that have a job and count, and those that were told to run
  uint64_t tick_ = 0;   // of the watcher
  bool watcher_sleeps_ = true;
  bool stopping_ = false;
  Thread watcher_;
};

}  // namespace sluice::flow_engine
