#include "storage/flush_gate.h"

#include <future>

#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

namespace sluice::storage {
namespace {

class FlushGateTest : public testing::Test {
 protected:
  using Done = std::promise<void>;
  static void Finish(void* done) { static_cast<Done*>(done)->set_value(); }
  void Start(rocksdb::Env::Priority priority, Done* done) {
    gate_.Schedule(&Finish, done, priority, this, nullptr);
  }

  FlushGate gate_{rocksdb::NewCompositeEnv(rocksdb::FileSystem::Default())};
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
  auto flushed = flush_.get_future();
  EXPECT_EQ(flushed.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  gate_.Open();
  flushed.get();
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
