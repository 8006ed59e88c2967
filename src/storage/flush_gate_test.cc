#include "storage/flush_gate.h"

#include <atomic>
#include <future>
#include <semaphore>

#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

namespace sluice::storage {
namespace {

// Says when a thread begins to wait by it.
class WatchedClock final : public Clock {
 public:
  uint64_t WallNs() const override { return ns_; }
  uint64_t MonotonicNs() const override { return ns_; }
  void WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 uint64_t until_ns) const override {
    waits_.release();
    Clock::WaitUntil(condition, lock, until_ns);
  }

  void AwaitWait() const { waits_.acquire(); }
  void Advance(std::chrono::nanoseconds time) { ns_ += static_cast<uint64_t>(time.count()); }

 private:
  std::atomic<uint64_t> ns_ = 0;
  mutable std::counting_semaphore<> waits_{0};
};

class FlushGateTest : public testing::Test {
 protected:
  using Done = std::promise<void>;
  static void Finish(void* done) { static_cast<Done*>(done)->set_value(); }
  void Start(rocksdb::Env::Priority priority, Done* done) {
    gate_.Schedule(&Finish, done, priority, this, nullptr);
  }

  static bool HasEnded(const std::future<void>& future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  WatchedClock clock_;
  FlushGate gate_{rocksdb::NewCompositeEnv(rocksdb::FileSystem::Default()), clock_};
  Done flush_;
  Done compaction_;
};

TEST_F(FlushGateTest, FlushesWaitWhileItIsClosed) {
  gate_.SetBackgroundThreads(1, rocksdb::Env::HIGH);
  gate_.SetBackgroundThreads(1, rocksdb::Env::LOW);
  gate_.Close();
  Start(rocksdb::Env::HIGH, &flush_);
  Start(rocksdb::Env::LOW, &compaction_);
  compaction_.get_future().get();
  clock_.AwaitWait();
  const std::future<void> flushed = flush_.get_future();
  EXPECT_FALSE(HasEnded(flushed));
  gate_.Open();
  flushed.wait();
}

TEST_F(FlushGateTest, AFlushWaitsForAMinuteAtMost) {
  gate_.SetBackgroundThreads(1, rocksdb::Env::HIGH);
  gate_.Close();
  Start(rocksdb::Env::HIGH, &flush_);
  clock_.AwaitWait();
  clock_.Advance(FlushGate::kLongestWait);
  flush_.get_future().get();
}

TEST_F(FlushGateTest, FlushesStartWhileItIsOpen) {
  gate_.SetBackgroundThreads(1, rocksdb::Env::HIGH);
  Start(rocksdb::Env::HIGH, &flush_);
  flush_.get_future().get();
}

TEST_F(FlushGateTest, AFlushThatIsTakenBackDoesNotRun) {
  gate_.SetBackgroundThreads(1, rocksdb::Env::HIGH);
  gate_.Close();
  Start(rocksdb::Env::HIGH, &flush_);
  Done unscheduled;
  gate_.Schedule([](void*) { ADD_FAILURE() << "it ran"; }, &unscheduled, rocksdb::Env::HIGH,
                 &unscheduled, [](void* done) { static_cast<Done*>(done)->set_value(); });
  EXPECT_EQ(gate_.UnSchedule(&unscheduled, rocksdb::Env::HIGH), 1);
  unscheduled.get_future().get();
  gate_.Open();
  flush_.get_future().get();
}

TEST_F(FlushGateTest, ResumeOfAStoreWithoutAnErrorSucceeds) {
  const std::string directory = testing::TempDir() + "flush_gate";
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = &gate_;
  options.listeners.push_back(gate_.NewListener());
  rocksdb::DB* raw = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, directory, &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  gate_.Close();
  EXPECT_TRUE(gate_.Resume(*db).ok());
  ASSERT_TRUE(db->Put({}, "k", "v").ok());
  EXPECT_TRUE(db->Flush({}).ok());  // the gate is open
  ASSERT_TRUE(db->Close().ok());
}

}  // namespace
}  // namespace sluice::storage
