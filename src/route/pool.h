// Threads that run flows and the functions that they call. There are as many as there is work that
// blocks, up to a bound; work past that waits.
//
// Concurrency: any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice::route {

class Pool {
 public:
  using Job = std::move_only_function<void()>;

  explicit Pool(size_t most_threads) : most_threads_(most_threads) {}
  ~Pool() { Stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // False after Stop: the job is dropped.
  bool Post(Job job);
  // Waits for what runs, and drops what waits.
  void Stop();

 private:
  void Loop();

  const size_t most_threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;              // under mutex_
  std::vector<std::thread> threads_;  // under mutex_
  size_t idle_ = 0;                   // under mutex_
  bool stopping_ = false;             // under mutex_
};

}  // namespace sluice::route
