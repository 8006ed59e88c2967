// Journals for tests: one whose appends fail or wait when a test asks for that, and one whose
// answers the test gives itself.
#pragma once

#include <atomic>
#include <deque>
#include <semaphore>

#include "base/mutex.h"
#include "db/journal.h"

namespace sluice::db {

class FaultyJournal final : public Journal {
 public:
  explicit FaultyJournal(storage::Store& store) : store_(store) {}

  void Append(ShardId, Sequence, Sequence, storage::Batch* group, Done done) override {
    ++appends;
    appends.notify_all();
    if (hold) held.acquire();
    Status written = failing
                         ? Error(Code::kNoSpace, "storage.no_space", "the disk is full (as told)")
                         : store_.Write(group, storage::Sync::kNo);
    const Outcome outcome = written.ok() ? Outcome::kCommitted : Outcome::kFailed;
    done({outcome, std::move(written)});
  }
  Result<Position> Last(ShardId) override { return Position{}; }
  Status Recover() override {
    ++recoveries;
    if (failing) return Error(Code::kNoSpace, "storage.no_space", "the disk is still full");
    return OkStatus();
  }
  bool WritesStore() const override { return true; }

  std::atomic<bool> failing = false;
  std::atomic<bool> hold = false;  // appends wait for a release of `held` each
  std::counting_semaphore<> held{0};
  std::atomic<int> appends = 0;
  std::atomic<int> recoveries = 0;

 private:
  storage::Store& store_;
};

// Keeps no groups: the committer writes them to the store.
class ManualJournal final : public Journal {
 public:
  void Append(ShardId, Sequence expected, Sequence next, storage::Batch*, Done done) override {
    const MutexLock lock(mutex_);
    waiting_.push_back({expected, next, std::move(done)});
    ++appends;
    appends.notify_all();
  }
  Result<Position> Last(ShardId) override {
    ++asked;
    asked.notify_all();
    const MutexLock lock(mutex_);
    if (!position_) return Fail(Code::kUnavailable, "storage.io", "the journal is away (as told)");
    return *position_;
  }
  Status Recover() override { return OkStatus(); }
  bool WritesStore() const override { return false; }

  // Returns when there have been so many appends.
  void Await(int count) {
    for (int seen = appends; seen < count; seen = appends) appends.wait(seen);
  }
  // Answers the append that is at this place among those without an answer.
  void Answer(size_t place, Outcome outcome) {
    Done done;
    {
      const MutexLock lock(mutex_);
      done = std::move(waiting_.at(place).done);
      waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(place));
    }
    done({outcome, outcome == Outcome::kCommitted
                       ? OkStatus()
                       : Error(Code::kNoSpace, "storage.no_space", "the disk is full (as told)")});
  }
  void SetPosition(std::optional<Position> position) {
    const MutexLock lock(mutex_);
    position_ = position;
  }

  std::atomic<int> appends = 0;
  std::atomic<int> asked = 0;

 private:
  struct Waiting {
    Sequence expected;
    Sequence next;
    Done done;
  };
  Mutex mutex_;
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_);
  std::optional<Position> position_ GUARDED_BY(mutex_);
};

}  // namespace sluice::db
