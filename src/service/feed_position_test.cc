#include "service/feed_position.h"

#include <gtest/gtest.h>

namespace sluice::service {
namespace {

FeedPosition Sample() {
  FeedPosition position;
  position.keyspace = 300;
  db::CursorState log;
  log.position = {.sequence = 1'000'000, .n = 7};
  db::CursorState whole;
  whole.position = {.sequence = 5};
  db::CursorState backfill;
  backfill.position = {.sequence = 99};
  backfill.backfilling = true;
  backfill.backfill_from = 3;
  backfill.backfill_keyspace = 300;
  backfill.backfill_key = std::string("k\0\xff", 3);
  position.shards = {log, whole, backfill};
  return position;
}

TEST(FeedPositionTest, ReadsBackWhatItWrote) {
  const FeedPosition position = Sample();
  const Result<FeedPosition> read = FeedPosition::Parse(position.ToText());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->keyspace, position.keyspace);
  EXPECT_EQ(read->shards, position.shards);
}

// Clients keep these ids, so they must be read for ever.
TEST(FeedPositionTest, StoredForm) { EXPECT_EQ(Sample().ToText(), "AawCA8CEPQgABQAAYwABAwNrAP8"); }

TEST(FeedPositionTest, WhatIsRefused) {
  const std::string good = Sample().ToText();
  for (const std::string& text :
       {std::string(), std::string("!"), std::string("AA"), good.substr(0, good.size() - 2),
        good + "AA", "Ag" + good.substr(2), std::string(70'000, 'A')}) {
    const Result<FeedPosition> read = FeedPosition::Parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().id(), "feed.bad_position");
  }
}

}  // namespace
}  // namespace sluice::service
