#include "storage/flush_gate.h"

#include <atomic>
#include <thread>
#include <utility>

#include "base/thread.h"

namespace sluice::storage {
namespace {

constexpr std::chrono::milliseconds kAskAgain{1};

// After a failed write RocksDB waits until the disk has room for a whole write buffer, and refuses
// Resume() until then. The committer knows when it pays to try again.
class CloseOnError final : public rocksdb::EventListener {
 public:
  explicit CloseOnError(FlushGate& gate) : gate_(gate) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status*) override {
    gate_.Close();
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                            bool* automatic) override {
    *automatic = false;
  }

 private:
  FlushGate& gate_;
};

}  // namespace

struct FlushGate::Job {
  FlushGate* gate;
  void (*function)(void*);
  void (*unscheduled)(void*);
  void* argument;

  static void Run(void* self) {
    const std::unique_ptr<Job> job(static_cast<Job*>(self));
    job->gate->Pass();
    job->function(job->argument);
  }
  static void Unschedule(void* self) {
    const std::unique_ptr<Job> job(static_cast<Job*>(self));
    if (job->unscheduled != nullptr) job->unscheduled(job->argument);
  }
};

void FlushGate::Schedule(void (*function)(void*), void* argument, Priority priority, void* tag,
                         void (*unscheduled)(void*)) {
  if (priority != Priority::HIGH) {
    return EnvWrapper::Schedule(function, argument, priority, tag, unscheduled);
  }
  auto job = std::make_unique<Job>(Job{this, function, unscheduled, argument});
  EnvWrapper::Schedule(&Job::Run, job.release(), priority, tag, &Job::Unschedule);
}

std::shared_ptr<rocksdb::EventListener> FlushGate::NewListener() {
  return std::make_shared<CloseOnError>(*this);
}

// A recovery waits for the jobs at the gate, so another thread has to open it, and not before the
// recovery has begun. RocksDB answers Busy then. Two threads ask; which of them is the one that
// recovers does not matter, and none leaves the other alone with a closed gate.
rocksdb::Status FlushGate::Resume(rocksdb::DB& db) {
  Recovery recovery;
  Thread other({"store resume"},
               [&] { Recover(db, recovery, recovery.other_left, recovery.left); });
  Recover(db, recovery, recovery.left, recovery.other_left);
  other.join();
  const MutexLock lock(recovery.mutex);
  if (recovery.result.ok()) {
    Open();
  } else {
    Close();
  }
  return recovery.result;
}

void FlushGate::Recover(rocksdb::DB& db, Recovery& recovery, std::atomic<bool>& left,
                        const std::atomic<bool>& other_left) {
  while (!recovery.ended) {
    rocksdb::Status status = db.Resume();
    if (status.IsBusy()) {
      Open();
      std::this_thread::sleep_for(kAskAgain);
      continue;
    }
    const MutexLock lock(recovery.mutex);
    recovery.result = std::move(status);
    recovery.ended = true;
  }
  left = true;
  while (!other_left) {
    Open();
    std::this_thread::sleep_for(kAskAgain);
  }
}

void FlushGate::Open() {
  {
    const MutexLock lock(mutex_);
    closed_ = false;
  }
  opened_.NotifyAll();
}

void FlushGate::Close() {
  const MutexLock lock(mutex_);
  closed_ = true;
}

void FlushGate::Pass() {
  const MutexLock lock(mutex_);
  opened_.WaitFor(lock, kLongestWait, [this]() REQUIRES(mutex_) { return !closed_; });
}

}  // namespace sluice::storage
