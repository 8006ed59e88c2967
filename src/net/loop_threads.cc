#include "net/loop_threads.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/wait_scope.h"

namespace sluice::net {
namespace {

constexpr std::chrono::milliseconds kInterval(2);  // between looks at the job

}  // namespace

class LoopThreads::Worker final : public WaitObserver {
 public:
  explicit Worker(LoopThreads& threads) : threads_(threads) {}

  void OnWait() override {
    const MutexLock lock(threads_.mutex_);
    if (threads_.owner_ == this) threads_.GiveAway();
  }
  void OnResume() override {}

  Thread thread;
  CondVar given;  // it got the loop, or the threads end
  // When its job began; 0 when it runs none.
  std::atomic<uint64_t> since_ns = 0;
  std::atomic<uint64_t> jobs = 0;
  uint64_t seen_jobs = 0;  // by the last look; the watchdog's thread alone uses it

 private:
  LoopThreads& threads_;
};

thread_local LoopThreads::Worker* LoopThreads::current_ = nullptr;

LoopThreads::LoopThreads(const Clock& clock, std::function<void()> work)
    : Watched(kInterval), clock_(clock), work_(std::move(work)) {}

LoopThreads::~LoopThreads() {
  const MutexLock lock(mutex_);
  CHECK(workers_.empty());
}

void LoopThreads::Start() {
  const MutexLock lock(mutex_);
  GiveAway();
}

void LoopThreads::Join() {
  std::vector<std::unique_ptr<Worker>> workers;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    for (const auto& worker : workers_) worker->given.NotifyOne();
    workers.swap(workers_);
  }
  // None is added any more.
  for (const auto& worker : workers) worker->thread.join();
  Leave();
}

// Gives the loop to a spare thread, or to a new one.
void LoopThreads::GiveAway() {
  if (stopping_) return;
  if (owner_ != nullptr) ++lost_;
  if (!spare_.empty()) {
    Worker* const spare = spare_.back();
    spare_.pop_back();
    owner_ = spare;
    spare->given.NotifyOne();
    return;
  }
  workers_.push_back(std::make_unique<Worker>(*this));
  Worker* const added = workers_.back().get();
  owner_ = added;
  added->thread = Thread({"io"}, [this, added] { Live(*added); });
}

void LoopThreads::Live(Worker& worker) {
  current_ = &worker;
  MutexLock lock(mutex_);
  while (true) {
    worker.given.Wait(lock, [&]() REQUIRES(mutex_) { return stopping_ || owner_ == &worker; });
    if (owner_ == &worker) {
      lock.Unlock();
      work_();
      lock.Lock();
    }
    if (stopping_) return;
    spare_.push_back(&worker);
  }
}

bool LoopThreads::Run(Job job) {
  Worker& worker = *current_;
  worker.jobs.fetch_add(1, std::memory_order_relaxed);
  worker.since_ns = std::max<uint64_t>(1, clock_.MonotonicNs());
  Wake();
  wait_observer = &worker;
  job();
  job = nullptr;
  wait_observer = nullptr;
  worker.since_ns = 0;
  const MutexLock lock(mutex_);
  if (owner_ == &worker) return true;
  --lost_;
  return false;
}

bool LoopThreads::Look(uint64_t) {
  const uint64_t now_ns = clock_.MonotonicNs();
  const MutexLock lock(mutex_);
  Worker* const owner = owner_;
  if (owner == nullptr) return false;
  const uint64_t since_ns = owner->since_ns;
  const uint64_t jobs = owner->jobs.load(std::memory_order_relaxed);
  const bool active = since_ns != 0 || jobs != owner->seen_jobs;
  owner->seen_jobs = jobs;
  if (since_ns != 0 && now_ns > since_ns + kLongNs) GiveAway();
  return active;
}

}  // namespace sluice::net
