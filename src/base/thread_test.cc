#include "base/thread.h"

#include <latch>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

namespace sluice {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::Not;

const auto kIsWorker =
    AllOf(Field(&RunningThread::kind, "test worker"), Field(&RunningThread::owner, "orders"));

TEST(ThreadTest, IsListedForAsLongAsItRuns) {
  std::latch started(1);
  std::latch end(1);
  Thread thread({"test worker", "orders"}, [&] {
    started.count_down();
    end.wait();
  });
  started.wait();
  EXPECT_THAT(RunningThreads(), Contains(kIsWorker));
  end.count_down();
  thread.join();
  EXPECT_THAT(RunningThreads(), Not(Contains(kIsWorker)));
}

TEST(ThreadTest, TheKernelKnowsItsName) {
  std::string name(16, '\0');
  Thread({"commit", "0"}, [&] {
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  }).join();
  EXPECT_STREQ(name.c_str(), "commit:0");
}

TEST(ThreadTest, ALongNameIsCutShort) {
  EXPECT_EQ((ThreadName{"fn debug", "a_function_with_a_name"}.Short()), "fn debug:a_func");
  EXPECT_EQ((ThreadName{"timers"}.Short()), "timers");
}

TEST(ThreadTest, AnAssignmentWaitsForTheOldOne) {
  bool first = false;
  bool second = false;
  Thread thread({"test"}, [&] { first = true; });
  thread = Thread({"test"}, [&] { second = true; });
  EXPECT_TRUE(first);
  thread = {};
  EXPECT_TRUE(second);
}

}  // namespace
}  // namespace sluice
