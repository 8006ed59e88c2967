// Many commits in flight at once, for a thread that may block: Submit waits while kMaxInFlight are
// under way, so that memory stays bounded and the committer can group them.
//
// One thread submits and finishes; results arrive from committers' threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

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
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return in_flight_ < kMaxInFlight; });
      ++in_flight_;
    }
    database_.Submit(std::move(commit),
                     [this, done = std::move(done)](db::CommitResult result) mutable {
                       done(std::move(result));
                       // Notified under the lock: when Finish sees zero, nobody touches this object
                       // any more.
                       const std::lock_guard lock(mutex_);
                       --in_flight_;
                       changed_.notify_all();
                     });
  }

  // Waits for all.
  void Finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return in_flight_ == 0; });
  }

 private:
  db::Database& database_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t in_flight_ = 0;  // guarded by mutex_
};

}  // namespace sluice::service
