#include "base/pool.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "base/wait_scope.h"

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kInterval(20);  // between looks at the jobs
constexpr size_t kLeastProcessors = 2;

PoolOptions Bounded(PoolOptions options) {
  options.most_running = std::min(options.most_running, options.most_threads);
  return options;
}

}  // namespace

class Pool::Worker final : public WaitObserver {
 public:
  explicit Worker(Pool& of) : pool(of) {}

  void OnWait() override {
    bool wake = false;
    {
      const MutexLock lock(pool.mutex_);
      wake = pool.Uncount(*this);
    }
    if (wake) pool.wake_.NotifyOne();
  }
  void OnResume() override {
    const MutexLock lock(pool.mutex_);
    pool.Count(*this);
    began_look = pool.looks_;
  }

  Pool& pool;
  Thread thread;
  // Guarded by the pool's mutex.
  bool has_job = false;
  bool counted = false;     // among running_
  uint64_t began_look = 0;  // the watchdog's last look before the job began
};

size_t Pool::Processors() {
  return std::max<size_t>(kLeastProcessors, std::thread::hardware_concurrency());
}

Pool::Pool(PoolOptions options, Watchdog& watchdog)
    : Watched(kInterval, watchdog),
      options_(Bounded(std::move(options))),
      adds_threads_(options_.most_threads > options_.most_running),
      long_looks_(static_cast<uint64_t>(options_.long_time / kInterval)) {}

Pool::~Pool() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  Join();
}

void Pool::Stop() {
  std::deque<Job> dropped;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(jobs_);
  }
  Join();
}

void Pool::Join() {
  wake_.NotifyAll();
  std::vector<std::unique_ptr<Worker>> workers;
  {
    const MutexLock lock(mutex_);
    workers.swap(workers_);  // none is added any more
  }
  for (const auto& worker : workers) worker->thread.join();
  Leave();
}

bool Pool::Post(Job job) {
  bool wake = false;
  {
    const MutexLock lock(mutex_);
    if (stopping_ || jobs_.size() >= options_.most_queued) return false;
    jobs_.push_back(std::move(job));
    wake = Grow();
    if (workers_.empty()) {
      job = std::move(jobs_.back());  // it ends outside of the lock
      jobs_.pop_back();
      return false;
    }
  }
  if (wake) wake_.NotifyOne();
  if (adds_threads_) Wake();
  return true;
}

bool Pool::Grow() {
  if (jobs_.empty() || running_ >= options_.most_running || called_ || stopping_) return false;
  if (idle_ > 0) {
    ++running_;
    called_ = true;
    return true;
  }
  if (workers_.size() < options_.most_threads) AddWorker();
  return false;
}

void Pool::AddWorker() {
  auto worker = std::make_unique<Worker>(*this);
  try {
    worker->thread = Thread({options_.kind, options_.owner}, [this, self = worker.get()] {
      if (adds_threads_) wait_observer = self;
      WorkLoop(*self);
    });
  } catch (const std::system_error&) {
    return;  // the system has no more threads: the pool's other threads do the work
  }
  ++running_;
  workers_.push_back(std::move(worker));
}

bool Pool::Uncount(Worker& worker) {
  if (!worker.counted) return false;
  worker.counted = false;
  --running_;
  return Grow();
}

void Pool::Count(Worker& worker) {
  if (worker.counted) return;
  worker.counted = true;
  ++running_;
}

// A worker counts when it begins: whoever started or called it has counted it. It runs jobs until
// there are no more, or enough others run.
void Pool::WorkLoop(Worker& worker) {
  MutexLock lock(mutex_);
  while (true) {
    worker.counted = true;
    while (!jobs_.empty() && running_ <= options_.most_running) {
      Job job = TakeJob(worker);
      const bool wake = Grow();
      lock.Unlock();
      if (wake) wake_.NotifyOne();
      job();
      job = nullptr;  // it ends outside of the lock
      lock.Lock();
      worker.has_job = false;
      Count(worker);
    }
    worker.counted = false;
    --running_;
    if (stopping_) return;
    ++idle_;
    wake_.Wait(lock, [this]() REQUIRES(mutex_) { return stopping_ || called_; });
    --idle_;
    if (!std::exchange(called_, false)) ++running_;
  }
}

Pool::Job Pool::TakeJob(Worker& worker) {
  worker.has_job = true;
  worker.began_look = looks_;
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

bool Pool::Look(uint64_t) {
  bool wake = false;
  bool at_work = false;
  {
    const MutexLock lock(mutex_);
    ++looks_;
    at_work = running_ > 0 || !jobs_.empty();
    if (!jobs_.empty()) {
      // By number: Uncount may add workers.
      for (size_t i = 0; i < workers_.size(); ++i) {
        Worker& worker = *workers_[i];
        if (worker.has_job && looks_ - worker.began_look > long_looks_) wake |= Uncount(worker);
      }
      wake |= Grow();  // there may have been no thread for it
    }
  }
  if (wake) wake_.NotifyOne();
  return at_work;
}

}  // namespace sluice
