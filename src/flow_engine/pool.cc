#include "flow_engine/pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/wait_scope.h"

namespace sluice::flow_engine {
namespace {

// A job that is seen by the watcher more often than this takes long.
constexpr uint64_t kLongTicks = 2;
constexpr std::chrono::milliseconds kTick(20);
// The watcher sleeps when it saw nothing to do for so long.
constexpr int kQuietTicks = 50;
constexpr size_t kLeastRunning = 2;

}  // namespace

class Pool::Worker final : public WaitObserver {
 public:
  explicit Worker(Pool& of) : pool(of) {}

  void OnWait() override {
    const std::lock_guard lock(pool.mutex_);
    pool.Uncount(*this);
  }
  void OnResume() override {
    const std::lock_guard lock(pool.mutex_);
    pool.Count(*this);
    began_tick = pool.tick_;
  }

  Pool& pool;
  Thread thread;
  // Under the pool's mutex.
  bool has_job = false;
  bool counted = false;  // among running_
  uint64_t began_tick = 0;
};

Pool::Pool(std::string name, size_t most_threads)
    : name_(std::move(name)),
      most_threads_(most_threads),
      most_running_(std::max<size_t>(kLeastRunning, std::thread::hardware_concurrency())) {
  watcher_ = Thread({"pool watch", name_}, [this] { WatchLoop(); });
}

Pool::~Pool() { Stop(); }

bool Pool::Post(Job job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  jobs_.push_back(std::move(job));
  Grow();
  if (watcher_sleeps_) {
    watcher_sleeps_ = false;
    watch_.notify_one();
  }
  return true;
}

// Lets one more worker run when there is work for it. It counts from now on.
void Pool::Grow() {
  if (jobs_.empty() || running_ >= most_running_ || stopping_) return;
  if (idle_ > called_) {
    ++running_;
    ++called_;
    wake_.notify_one();
  } else if (workers_.size() < most_threads_) {
    auto worker = std::make_unique<Worker>(*this);
    try {
      worker->thread = Thread({"pool", name_}, [this, self = worker.get()] { WorkLoop(*self); });
    } catch (const std::system_error&) {
      return;  // the system has no more threads: those that there are see to it
    }
    ++running_;
    workers_.push_back(std::move(worker));
  }
}

void Pool::Uncount(Worker& worker) {
  if (!worker.counted) return;
  worker.counted = false;
  --running_;
  Grow();
}

void Pool::Count(Worker& worker) {
  if (worker.counted) return;
  worker.counted = true;
  ++running_;
}

void Pool::WorkLoop(Worker& worker) {
  wait_observer = &worker;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    worker.counted = true;
    RunJobs(worker, lock);
    worker.counted = false;
    --running_;
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || called_ > 0; });
    --idle_;
    if (!stopping_) --called_;
  }
}

// Until there are no more, or enough others run.
void Pool::RunJobs(Worker& worker, std::unique_lock<std::mutex>& lock) {
  while (!jobs_.empty() && running_ <= most_running_ && !stopping_) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    worker.has_job = true;
    worker.began_tick = tick_;
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    worker.has_job = false;
    Count(worker);
  }
}

void Pool::WatchLoop() {
  std::unique_lock lock(mutex_);
  int quiet = 0;
  while (!stopping_) {
    if (watcher_sleeps_) {
      watch_.wait(lock, [this] { return stopping_ || !watcher_sleeps_; });
    } else {
      watch_.wait_for(lock, kTick, [this] { return stopping_; });
    }
    ++tick_;
    quiet = running_ == 0 && jobs_.empty() ? quiet + 1 : 0;
    watcher_sleeps_ = quiet > kQuietTicks;
    if (jobs_.empty()) continue;
    // By number: Uncount may add workers.
    for (size_t i = 0; i < workers_.size(); ++i) {
      Worker& worker = *workers_[i];
      if (worker.has_job && tick_ - worker.began_tick > kLongTicks) Uncount(worker);
    }
    Grow();  // there may have been no thread for it
  }
}

void Pool::Stop() {
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    dropped.swap(jobs_);
  }
  wake_.notify_all();
  watch_.notify_all();
  watcher_.join();
  // None is added any more.
  for (const auto& worker : workers_) worker->thread.join();
}

}  // namespace sluice::flow_engine
