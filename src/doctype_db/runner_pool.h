// A pool of runners of a type's migrations. A thread borrows a runner and returns it. Any thread.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/locked.h"
#include "base/log.h"
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
    if (auto runner = TakeIdle()) return Loan(*this, std::move(runner));
    return Loan(*this, std::make_unique<doctype::MigrationRunner>(migrations_, limits_, clock_));
  }

  // Logs a failed migration of a document, at most once in kLogIntervalNs. Some readers (index
  // builds, scans) can't report the error to a client.
  void LogFailure(const Status& error) {
    const uint64_t now_ns = clock_.MonotonicNs();
    uint64_t next_ns = next_log_ns_;
    if (now_ns < next_ns) return;
    // Another thread logs one at this moment.
    if (!next_log_ns_.compare_exchange_strong(next_ns, now_ns + kLogIntervalNs)) return;
    log::Warn("a document can't be migrated to the current version of its type",
              {{"type", migrations_->type().name}, {"error", error.ToString()}});
  }

 private:
  static constexpr uint64_t kLogIntervalNs = 60'000'000'000;
  static constexpr size_t kMaxIdle = 8;  // each may hold a JavaScript runtime

  using Runner = std::unique_ptr<doctype::MigrationRunner>;

  Runner TakeIdle() {
    const auto idle = idle_.Lock();
    if (idle->empty()) return nullptr;
    Runner runner = std::move(idle->back());
    idle->pop_back();
    return runner;
  }
  void Return(Runner runner) {  // one that finds no room ends without the lock
    const auto idle = idle_.Lock();
    if (idle->size() < kMaxIdle) idle->push_back(std::move(runner));
  }

  const std::shared_ptr<const doctype::Migrations> migrations_;
  const doctype::ScriptLimits limits_;
  const Clock& clock_;
  Locked<std::vector<Runner>> idle_;
  std::atomic<uint64_t> next_log_ns_ = 0;  // a failure before this time is not logged
};

}  // namespace sluice::doctype_db
