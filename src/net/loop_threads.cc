#include "net/loop_threads.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/wait_scope.h"

namespace sluice::net {
namespace {

constexpr std::chrono::milliseconds kTick(2);
// The watch sleeps when it saw nothing for so long.
constexpr int kQuietTicks = 250;

}  // namespace

class LoopThreads::Worker final : public WaitObserver {
 public:
  explicit Worker(LoopThreads& threads) : threads_(threads) {}

  void OnWait() override {
    const std::lock_guard lock(threads_.mutex_);
    if (threads_.owner_ == this) threads_.GiveAway();
  }
  void OnResume() override {}

  Thread thread;
  std::condition_variable given;  // the loop, or the end
  // Of the job that it runs; 0 when it runs none.
  std::atomic<uint64_t> since_ns = 0;
  std::atomic<uint64_t> jobs = 0;
  uint64_t seen_jobs = 0;  // by the watch

 private:
  LoopThreads& threads_;
};

thread_local LoopThreads::Worker* LoopThreads::current_ = nullptr;

LoopThreads::LoopThreads(const Clock& clock, std::function<void()> work)
    : clock_(clock), work_(std::move(work)) {}

LoopThreads::~LoopThreads() { CHECK(workers_.empty()); }

void LoopThreads::Start() {
  const std::lock_guard lock(mutex_);
  GiveAway();
}

void LoopThreads::Join() {
  std::vector<std::unique_ptr<Worker>> workers;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& worker : workers_) worker->given.notify_one();
    workers.swap(workers_);
  }
  // None is added any more.
  for (const auto& worker : workers) worker->thread.join();
}

// To a spare thread, or a new one.
void LoopThreads::GiveAway() {
  if (stopping_) return;
  if (owner_ != nullptr) ++lost_;
  if (!spare_.empty()) {
    owner_ = spare_.back();
    spare_.pop_back();
    owner_->given.notify_one();
    return;
  }
  workers_.push_back(std::make_unique<Worker>(*this));
  owner_ = workers_.back().get();
  owner_->thread = Thread({"io"}, [this, worker = owner_] { Live(*worker); });
}

void LoopThreads::Live(Worker& worker) {
  current_ = &worker;
  std::unique_lock lock(mutex_);
  while (true) {
    worker.given.wait(lock, [&] { return stopping_ || owner_ == &worker; });
    if (owner_ == &worker) {
      lock.unlock();
      work_();
      lock.lock();
    }
    if (stopping_) return;
    spare_.push_back(&worker);
  }
}

bool LoopThreads::Run(Job job) {
  Worker& worker = *current_;
  worker.jobs.fetch_add(1, std::memory_order_relaxed);
  worker.since_ns = std::max<uint64_t>(1, clock_.MonotonicNs());
  wait_observer = &worker;
  job();
  job = nullptr;
  wait_observer = nullptr;
  worker.since_ns = 0;
  const std::lock_guard lock(mutex_);
  if (owner_ == &worker) return true;
  --lost_;
  return false;
}

bool LoopThreads::Mine() {
  const std::lock_guard lock(mutex_);
  return owner_ != nullptr && owner_ == current_;
}

bool LoopThreads::Look(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (owner_ == nullptr) return false;
  const uint64_t since_ns = owner_->since_ns;
  const uint64_t jobs = owner_->jobs.load(std::memory_order_relaxed);
  const bool active = since_ns != 0 || jobs != owner_->seen_jobs;
  owner_->seen_jobs = jobs;
  if (since_ns != 0 && now_ns > since_ns + kLongNs) GiveAway();
  return active;
}

void LoopWatch::Start(std::vector<LoopThreads*> watched) {
  watched_ = std::move(watched);
  thread_ = Thread({"io watch"}, [this] { Run(); });
}

void LoopWatch::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LoopWatch::WakeUp() {
  {
    const std::lock_guard lock(mutex_);
    sleeps_ = false;
  }
  wake_.notify_one();
}

void LoopWatch::Run() {
  int quiet = 0;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (sleeps_) {
      wake_.wait(lock, [this] { return stopping_ || !sleeps_; });
    } else {
      wake_.wait_for(lock, kTick, [this] { return stopping_; });
    }
    bool active = false;
    const uint64_t now_ns = clock_.MonotonicNs();
    for (LoopThreads* const threads : watched_) active |= threads->Look(now_ns);
    quiet = active ? 0 : quiet + 1;
    sleeps_ = quiet > kQuietTicks;
  }
}

}  // namespace sluice::net
