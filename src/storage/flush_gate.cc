#include "storage/flush_gate.h"

#include <atomic>
#include <utility>

#include "base/thread.h"

namespace sluice::storage {
namespace {

// How often a recovery's other thread looks whether an error has closed the gate again, and whether
// RocksDB still recovers.
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
  rocksdb::Status result = recovery.result.Copy();
  if (result.ok()) {
    Open();
  } else {
    Close();
  }
  return result;
}

void FlushGate::Recover(rocksdb::DB& db, Recovery& recovery, std::atomic<bool>& left,
                        const std::atomic<bool>& other_left) {
  const auto wait_for_other = [&](uint64_t seen) {
    recovery.progress.Wait(seen, MachineClock().Now() + kAskAgain);
  };
  while (!recovery.ended) {
    const uint64_t seen = recovery.progress.news();
    rocksdb::Status status = db.Resume();
    if (status.IsBusy()) {
      Open();
      wait_for_other(seen);
      continue;
    }
    recovery.result.Set(std::move(status));
    recovery.ended = true;
  }
  left = true;
  recovery.progress.Wake();
  while (true) {
    const uint64_t seen = recovery.progress.news();
    if (other_left) break;
    Open();
    wait_for_other(seen);
  }
}

void FlushGate::Open() {
  closed_ = false;
  opened_.Wake();
}

void FlushGate::Close() { closed_ = true; }

void FlushGate::Pass() {
  const Clock::Time latest = clock_.Now() + kLongestWait;
  while (true) {
    const uint64_t seen = opened_.news();
    if (!closed_ || opened_.Wait(seen, latest) != Signal::Waited::kNews) return;
  }
}

}  // namespace sluice::storage
