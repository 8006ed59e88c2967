#include "flow_engine/answer_pipe.h"

#include <future>
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
  AnswerPipe pipe([](const TaskOutput&) {});
  pipe.Begin({});
  EXPECT_TRUE(pipe.Add(std::string(AnswerPipe::kMostBytes, 'x')).ok());
  std::atomic<bool> added = false;
  std::thread giver([&] {
    EXPECT_TRUE(pipe.Add("y").ok());
    added = true;
    pipe.End(OkStatus());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(added);
  EXPECT_EQ(Take(pipe).size(), AnswerPipe::kMostBytes);
  EXPECT_EQ(Take(pipe), "y");
  giver.join();
}

TEST(AnswerPipe, WhoTakesNothingForLongIsGivenNoMore) {
  AnswerPipe pipe([](const TaskOutput&) {}, std::chrono::milliseconds(20));
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
