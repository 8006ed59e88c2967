// A pool of runners of a type's migrations. A thread borrows a runner and returns it. Any thread.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "doctype/migration_runner.h"

namespace sluice::doctype_db {

class RunnerPool {
 public:
  // The clock outlives it.
  RunnerPool(std::shared_ptr<const doctype::Migrations> migrations,
             const doctype::ScriptLimits& limits, const Clock& clock)
      : migrations_(std::move(migrations)), limits_(limits), clock_(clock) {}

  class Loan {
   public:
    Loan(RunnerPool& pool, std::unique_ptr<doctype::MigrationRunner> runner)
        : pool_(pool), runner_(std::move(runner)) {}
    ~Loan() { pool_.Return(std::move(runner_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    doctype::MigrationRunner* operator->() const { return runner_.get(); }

   private:
    RunnerPool& pool_;
    std::unique_ptr<doctype::MigrationRunner> runner_;
  };

  Loan Borrow() {
    {
      const MutexLock lock(mutex_);
      if (!idle_.empty()) {
        auto runner = std::move(idle_.back());
        idle_.pop_back();
        return Loan(*this, std::move(runner));
      }
    }
    return Loan(*this, std::make_unique<doctype::MigrationRunner>(migrations_, limits_, clock_));
  }

  // Logs a failed migration of a document, at most once in kLogIntervalNs. Some readers (index
  // builds, scans) can't report the error to a client.
  void LogFailure(const Status& error) {
    {
      const MutexLock lock(mutex_);
      const uint64_t now_ns = clock_.MonotonicNs();
      if (logged_ && now_ns - *logged_ < kLogIntervalNs) return;
      logged_ = now_ns;
    }
    log::Warn("a document can't be migrated to the current version of its type",
              {{"type", migrations_->type().name}, {"error", error.ToString()}});
  }

 private:
  static constexpr uint64_t kLogIntervalNs = 60'000'000'000;
  static constexpr size_t kMaxIdle = 8;  // each may hold a JavaScript runtime

  void Return(std::unique_ptr<doctype::MigrationRunner> runner) {
    const MutexLock lock(mutex_);
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(runner));
  }

  const std::shared_ptr<const doctype::Migrations> migrations_;
  const doctype::ScriptLimits limits_;
  const Clock& clock_;
  Mutex mutex_;
  std::vector<std::unique_ptr<doctype::MigrationRunner>> idle_ GUARDED_BY(mutex_);
  std::optional<uint64_t> logged_ GUARDED_BY(mutex_);
};

}  // namespace sluice::doctype_db
