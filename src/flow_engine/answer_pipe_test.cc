#include "flow_engine/answer_pipe.h"

#include <future>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

namespace sluice::flow_engine {
namespace {

// The next piece, or the id of the error.
std::string Take(AnswerPipe& pipe) {
  std::promise<std::string> taken;
  pipe.Take([&](Result<std::string> piece) {
    taken.set_value(piece ? *piece : std::string(piece.error().id()));
  });
  return taken.get_future().get();
}

// Says when a thread waits for a time, which never comes.
class WatchedClock final : public Clock {
 public:
  uint64_t WallNs() const override { return 0; }
  uint64_t MonotonicNs() const override { return 0; }
  void WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 uint64_t) const override {
    if (!waited_.exchange(true)) waits_.count_down();
    condition.wait(lock);
  }
  void WaitForAWait() const { waits_.wait(); }

 private:
  mutable std::atomic<bool> waited_ = false;
  mutable std::latch waits_{1};
};

TEST(AnswerPipe, PiecesInOrderThenTheEnd) {
  int status = 0;
  AnswerPipe pipe([&](const TaskOutput& head) { status = head.status; });
  pipe.Begin({.status = 203});
  EXPECT_EQ(status, 203);
  EXPECT_TRUE(pipe.Add("ab").ok());
  EXPECT_TRUE(pipe.Add("c").ok());
  EXPECT_EQ(Take(pipe), "abc");
  // Who waits gets the next one at once.
  auto waiting = std::async(std::launch::async, [&] { return Take(pipe); });
  EXPECT_TRUE(pipe.Add("").ok());  // is not the end
  EXPECT_TRUE(pipe.Add("d").ok());
  pipe.End(OkStatus());
  std::string rest = waiting.get();
  for (std::string piece; !(piece = Take(pipe)).empty();) rest += piece;
  EXPECT_EQ(rest, "d");
}

TEST(AnswerPipe, AnErrorComesAfterThePieces) {
  AnswerPipe pipe([](const TaskOutput&) {});
  pipe.Begin({});
  EXPECT_TRUE(pipe.Add("a").ok());
  pipe.End(Error(Code::kUnavailable, "curl.failed", "gone"));
  EXPECT_EQ(Take(pipe), "a");
  EXPECT_EQ(Take(pipe), "curl.failed");
}

TEST(AnswerPipe, WhoGivesWaitsForRoom) {
  const WatchedClock clock;
  AnswerPipe pipe([](const TaskOutput&) {}, clock);
  pipe.Begin({});
  EXPECT_TRUE(pipe.Add(std::string(AnswerPipe::kMostBytes, 'x')).ok());
  std::thread giver([&] {
    EXPECT_TRUE(pipe.Add("y").ok());
    pipe.End(OkStatus());
  });
  clock.WaitForAWait();
  EXPECT_EQ(Take(pipe).size(), AnswerPipe::kMostBytes);
  EXPECT_EQ(Take(pipe), "y");
  giver.join();
}

TEST(AnswerPipe, WhoTakesNothingForLongIsGivenNoMore) {
  const JumpingClock clock;
  AnswerPipe pipe([](const TaskOutput&) {}, clock);
  pipe.Begin({});
  const std::string full(AnswerPipe::kMostBytes, 'x');
  EXPECT_TRUE(pipe.Add(full).ok());
  const Status late = pipe.Add("y");
  EXPECT_EQ(late.id(), "curl.timeout");
  pipe.End(late);
  EXPECT_EQ(Take(pipe), full);
  EXPECT_EQ(Take(pipe), "curl.timeout");
}

// Both sides at once, in all orders that the scheduler makes of it.
TEST(AnswerPipe, EndsWhoeverEndsIt) {
  for (int round = 0; round < 200; ++round) {
    const auto pipe = std::make_shared<AnswerPipe>([](const TaskOutput&) {});
    const int pieces = round % 8;
    std::thread giver([=] {
      pipe->Begin({});
      Status status;
      for (int i = 0; i < pieces && status.ok(); ++i) {
        status = pipe->Add(std::string(AnswerPipe::kMostBytes, 'x'));
      }
      pipe->End(status);
    });
    size_t taken = 0;
    std::string last = "x";
    const size_t most = round % 3 == 0 ? AnswerPipe::kMostBytes : SIZE_MAX;
    while (!last.empty() && taken < most) taken += (last = Take(*pipe)).size();
    pipe->Leave();
    giver.join();
    const size_t all = pieces * AnswerPipe::kMostBytes;
    EXPECT_TRUE(last.empty() ? taken == all : taken <= all) << round << ": " << taken;
  }
}

TEST(AnswerPipe, NobodyGivesToWhoHasLeft) {
  AnswerPipe pipe([](const TaskOutput&) {});
  pipe.Begin({});
  EXPECT_TRUE(pipe.Add(std::string(AnswerPipe::kMostBytes, 'x')).ok());
  auto giver = std::async(std::launch::async, [&] { return std::string(pipe.Add("y").id()); });
  pipe.Leave();
  EXPECT_EQ(giver.get(), "curl.stopped");
  EXPECT_TRUE(pipe.left());
}

}  // namespace
}  // namespace sluice::flow_engine
