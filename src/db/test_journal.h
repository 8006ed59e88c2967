// A journal whose appends fail, or wait, when a test asks for that.
#pragma once

#include <atomic>
#include <semaphore>

#include "db/journal.h"

namespace sluice::db {

class FaultyJournal final : public Journal {
 public:
  explicit FaultyJournal(storage::Store& store) : store_(store) {}

  Status Append(ShardId, storage::Batch* group) override {
    ++appends;
    appends.notify_all();
    if (hold) held.acquire();
    if (failing) return Error(Code::kNoSpace, "storage.no_space", "the disk is full (as told)");
    return store_.Write(group, storage::Sync::kNo);
  }
  Status Recover() override {
    ++recoveries;
    if (failing) return Error(Code::kNoSpace, "storage.no_space", "the disk is still full");
    return OkStatus();
  }

  std::atomic<bool> failing = false;
  std::atomic<bool> hold = false;  // appends wait for a release of `held` each
  std::counting_semaphore<> held{0};
  std::atomic<int> appends = 0;
  std::atomic<int> recoveries = 0;

 private:
  storage::Store& store_;
};

}  // namespace sluice::db
