// A log that outlives the databases of a test, and two journals that write it: one beside the
// store, which is the embedded journal, and a shaky one, which is no journal that anybody should
// use. It answers from a thread of its own, in any order, refuses, fails, and often does not know.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/thread.h"
#include "db/journal.h"

namespace sluice::db {

struct LoggedGroup {
  Sequence expected = 0;
  Sequence next = 0;
  std::string bytes;
};

class SharedLog {
 public:
  Sequence Last(ShardId shard) {
    const MutexLock lock(mutex_);
    return LastOf(shard);
  }
  // False if the shard's last sequence is another one.
  bool Append(ShardId shard, LoggedGroup group) {
    const MutexLock lock(mutex_);
    if (LastOf(shard) != group.expected) return false;
    groups_[shard].push_back(std::move(group));
    return true;
  }
  // The groups from the n-th on.
  std::vector<LoggedGroup> From(ShardId shard, size_t n) {
    const MutexLock lock(mutex_);
    const std::vector<LoggedGroup>& all = groups_[shard];
    return {all.begin() + static_cast<ptrdiff_t>(std::min(n, all.size())), all.end()};
  }

 private:
  Sequence LastOf(ShardId shard) REQUIRES(mutex_) {
    const std::vector<LoggedGroup>& all = groups_[shard];
    return all.empty() ? 0 : all.back().next;
  }
  Mutex mutex_;
  std::map<ShardId, std::vector<LoggedGroup>> groups_ GUARDED_BY(mutex_);
};

class RecordingJournal final : public Journal {
 public:
  RecordingJournal(storage::Store& store, SharedLog& log)
      : embedded_(store, storage::Sync::kNo), log_(log) {}
  void Append(ShardId shard, Sequence expected, Sequence next, storage::Batch* group,
              Done done) override {
    CHECK(log_.Append(shard, {expected, next, group->Serialize()}));
    embedded_.Append(shard, expected, next, group, std::move(done));
  }
  Result<Position> Last(ShardId shard) override { return embedded_.Last(shard); }
  Status Recover() override { return embedded_.Recover(); }
  bool WritesStore() const override { return true; }

 private:
  EmbeddedJournal embedded_;
  SharedLog& log_;
};

class ShakyJournal final : public Journal {
 public:
  ShakyJournal(SharedLog& log, FakeClock& clock, const std::atomic<bool>& calm, uint64_t seed)
      : log_(log), clock_(clock), calm_(calm), random_(seed) {
    thread_ = Thread({"shaky"}, [this] { Deliver(); });
  }
  ~ShakyJournal() override {
    {
      const MutexLock lock(mutex_);
      ending_ = true;
    }
    changed_.NotifyOne();
    thread_.join();
  }

  void Append(ShardId shard, Sequence expected, Sequence next, storage::Batch* group,
              Done done) override {
    {
      const MutexLock lock(mutex_);
      waiting_.push_back({Decide(shard, {expected, next, group->Serialize()}), std::move(done)});
      most_waiting = std::max(most_waiting.load(), waiting_.size());
    }
    changed_.NotifyOne();
  }
  Result<Position> Last(ShardId shard) override {
    const MutexLock lock(mutex_);
    if (!calm_ && random_.OneIn(3)) {
      clock_.AdvanceMs(100);  // until it is asked again
      return Fail(Code::kUnavailable, "storage.io", "the journal is away (by chance)");
    }
    ++asked;
    for (LoggedGroup& group : late_[shard]) {
      if (!lost_[shard] && random_.OneIn(2)) log_.Append(shard, std::move(group));
    }
    late_[shard].clear();
    return Position{log_.Last(shard), lost_[shard]};
  }
  Status Recover() override { return OkStatus(); }
  bool WritesStore() const override { return false; }

  // Somebody else has taken the shard.
  void Lose(ShardId shard) {
    const MutexLock lock(mutex_);
    lost_[shard] = true;
  }

  std::atomic<size_t> most_waiting = 0;
  std::atomic<int> asked = 0;

 private:
  struct Waiting {
    Answer answer;
    Done done;
  };

  Answer Decide(ShardId shard, LoggedGroup group) REQUIRES(mutex_) {
    const Status away = Error(Code::kUnavailable, "storage.io", "no answer came (by chance)");
    const uint64_t chance = calm_ ? 99 : random_.Below(40);
    if (lost_[shard] || log_.Last(shard) != group.expected) {
      return {chance == 0 ? Outcome::kUnknown : Outcome::kRefused, away};
    }
    switch (chance) {
      case 0:
        return {Outcome::kFailed,
                Error(Code::kNoSpace, "storage.no_space", "no space (by chance)")};
      case 1:
        return {Outcome::kUnknown, away};
      case 2:
        late_[shard].push_back(std::move(group));
        return {Outcome::kUnknown, away};
      case 3:
        log_.Append(shard, std::move(group));
        return {Outcome::kUnknown, away};
      default:
        log_.Append(shard, std::move(group));
        return {};
    }
  }

  void Deliver() {
    MutexLock lock(mutex_);
    while (true) {
      changed_.Wait(lock, [this]() REQUIRES(mutex_) { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      // Lets more of them come, now and then.
      if (random_.OneIn(2)) changed_.WaitFor(lock, std::chrono::microseconds(random_.Below(300)));
      const auto one = waiting_.begin() + static_cast<ptrdiff_t>(random_.Below(waiting_.size()));
      Waiting chosen = std::move(*one);
      waiting_.erase(one);
      lock.Unlock();
      chosen.done(std::move(chosen.answer));
      chosen.done = nullptr;
      lock.Lock();
    }
  }

  SharedLog& log_;
  FakeClock& clock_;
  const std::atomic<bool>& calm_;  // no more misfortunes
  Mutex mutex_;
  CondVar changed_;
  Random random_ GUARDED_BY(mutex_);
  std::vector<Waiting> waiting_ GUARDED_BY(mutex_);
  std::map<ShardId, std::vector<LoggedGroup>> late_ GUARDED_BY(mutex_);
  std::map<ShardId, bool> lost_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace sluice::db
