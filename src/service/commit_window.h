// Many commits in flight at once, for a thread that may block: Submit waits while kMaxInFlight are
// under way, so that memory stays bounded and the committer can group them.
//
// One thread submits and finishes; results arrive from committers' threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/mutex.h"
#include "db/commit.h"
#include "db/database.h"

namespace sluice::service {

class CommitWindow {
 public:
  static constexpr size_t kMaxInFlight = 512;
  // Called on a committer's thread, or on the submitting one; must be quick.
  using Done = std::move_only_function<void(db::CommitResult)>;

  explicit CommitWindow(db::Database& database) : database_(database) {}
  ~CommitWindow() { Finish(); }
  CommitWindow(const CommitWindow&) = delete;
  CommitWindow& operator=(const CommitWindow&) = delete;

  void Submit(db::Commit commit, Done done) {
    {
      const MutexLock lock(mutex_);
      changed_.Wait(lock, [this]() REQUIRES(mutex_) { return in_flight_ < kMaxInFlight; });
      ++in_flight_;
    }
    database_.Submit(std::move(commit),
                     [this, done = std::move(done)](db::CommitResult result) mutable {
                       done(std::move(result));
                       // Notified under the lock: when Finish sees zero, nobody touches this object
                       // any more.
                       const MutexLock lock(mutex_);
                       --in_flight_;
                       changed_.NotifyAll();
                     });
  }

  // Waits for all.
  void Finish() {
    const MutexLock lock(mutex_);
    changed_.Wait(lock, [this]() REQUIRES(mutex_) { return in_flight_ == 0; });
  }

 private:
  db::Database& database_;
  Mutex mutex_;
  CondVar changed_;
  size_t in_flight_ GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::service
