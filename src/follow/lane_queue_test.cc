#include "follow/lane_queue.h"

#include <string>

#include <gtest/gtest.h>

#include "follow/test_log.h"
#include "follow/test_processor.h"

namespace sluice::follow {
namespace {

class LaneQueueTest : public testing::Test {
 protected:
  void Open() {
    auto opened = LaneQueue::Open(log_.NewSource(), MakeFakeEvent);
    ASSERT_TRUE(opened.has_value());
    queue_ = std::move(*opened);
  }
  // The key of the next event, which is taken; empty when there is none.
  std::string Take() {
    const auto event = queue_->Next();
    EXPECT_TRUE(event.has_value());
    if (!event || *event == nullptr) return "";
    queue_->Take();
    return static_cast<const FakeEvent*>(*event)->key;
  }
  Status Commit(size_t count) {
    db::Commit commit;
    commit.shard = log_.shard();
    commit.cursor_moves.push_back(queue_->Move(count));
    RETURN_IF_ERROR(log_.Apply(std::move(commit)));
    queue_->Committed(count);
    return OkStatus();
  }

  FakeLog log_{5};
  std::unique_ptr<LaneQueue> queue_;
};

TEST_F(LaneQueueTest, TakesInTheOrderOfTheLogAndRewinds) {
  for (const char* key : {"a", "b", "c"}) log_.Add(key);
  Open();
  EXPECT_EQ(Take(), "a");
  EXPECT_EQ(Take(), "b");
  queue_->Rewind();
  EXPECT_EQ(Take(), "a");
  EXPECT_EQ(queue_->taken(), 1u);
  ASSERT_TRUE(Commit(1).ok());
  EXPECT_EQ(queue_->taken(), 0u);
  EXPECT_EQ(log_.cursor().position.sequence, 1u);
  EXPECT_EQ(Take(), "b");
  EXPECT_EQ(Take(), "c");
  EXPECT_EQ(Take(), "");
}

// As a client that acknowledges the first of several events that it was given.
TEST_F(LaneQueueTest, CommitsAPartOfWhatWasTaken) {
  for (const char* key : {"a", "b", "c", "d"}) log_.Add(key);
  Open();
  for (int i = 0; i < 3; ++i) Take();
  ASSERT_TRUE(Commit(2).ok());
  EXPECT_EQ(queue_->taken(), 1u);
  EXPECT_EQ(log_.cursor().events, 2u);
  EXPECT_EQ(Take(), "d");
  ASSERT_TRUE(Commit(2).ok());
  EXPECT_EQ(log_.cursor().events, 4u);
  EXPECT_FALSE(queue_->HasMove());
}

TEST_F(LaneQueueTest, CountsEventsAndNotWhatIsLeftOut) {
  log_.Add("a");
  log_.Add("x", "left out");
  log_.Add("b");
  log_.Add("x", "left out");
  Open();
  EXPECT_EQ(Take(), "a");
  EXPECT_EQ(queue_->Move().next.events, 1u);
  EXPECT_EQ(queue_->Move().next.position.sequence, 1u);
  EXPECT_EQ(Take(), "b");
  // All that was read is passed.
  EXPECT_EQ(queue_->Move().next.events, 2u);
  EXPECT_EQ(queue_->Move().next.position.sequence, 4u);
}

TEST_F(LaneQueueTest, HasAMoveWhenOnlyChangesThatAreLeftOutCame) {
  Open();
  EXPECT_EQ(Take(), "");
  EXPECT_FALSE(queue_->HasMove());
  log_.Add("x", "left out");
  EXPECT_EQ(Take(), "");
  EXPECT_TRUE(queue_->HasMove());
}

TEST_F(LaneQueueTest, ReloadsWhereSomebodyElseHasMovedTheCursor) {
  for (const char* key : {"a", "b", "c"}) log_.Add(key);
  Open();
  EXPECT_EQ(Take(), "a");
  log_.MoveCursor(0, 2);
  EXPECT_EQ(Commit(1).id(), "cursor.moved");
  ASSERT_TRUE(queue_->Reload().ok());
  EXPECT_EQ(Take(), "c");
}

TEST_F(LaneQueueTest, PeeksAtMoreThanItReadsAtOnce) {
  const size_t count = LaneQueue::kReadAtOnce + 100;
  for (size_t i = 0; i < count; ++i) log_.Add(std::to_string(i));
  Open();
  EXPECT_EQ(queue_->Peek(10)->size(), 10u);
  EXPECT_EQ(queue_->Peek(LaneQueue::kReadAtOnce + 50)->size(), LaneQueue::kReadAtOnce + 50);
  EXPECT_EQ(queue_->Peek(2 * count)->size(), count);
  EXPECT_EQ(static_cast<const FakeEvent&>(*queue_->Peek(count)->back()).key,
            std::to_string(count - 1));
}

}  // namespace
}  // namespace sluice::follow
