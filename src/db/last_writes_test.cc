#include "db/last_writes.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::db {
namespace {

TEST(LastWrites, KnowsWhatWasWrittenSince) {
  LastWrites writes;
  EXPECT_TRUE(writes.UnchangedSince("a", 0));
  writes.Note("a", 5);
  EXPECT_FALSE(writes.UnchangedSince("a", 4));
  EXPECT_TRUE(writes.UnchangedSince("a", 5));
  EXPECT_TRUE(writes.UnchangedSince("b", 4));
  writes.NoteAll(7);
  EXPECT_FALSE(writes.UnchangedSince("b", 6));
  EXPECT_TRUE(writes.UnchangedSince("b", 7));
}

// Many more documents than slots: whatever shares one, no write is forgotten.
TEST(LastWrites, ForgetsNone) {
  constexpr int kDocuments = 300'000;
  LastWrites writes;
  for (int i = 1; i <= kDocuments; ++i) writes.Note(std::to_string(i), static_cast<Sequence>(i));
  for (int i = 1; i <= kDocuments; ++i) {
    ASSERT_FALSE(writes.UnchangedSince(std::to_string(i), static_cast<Sequence>(i - 1))) << i;
  }
}

}  // namespace
}  // namespace sluice::db
