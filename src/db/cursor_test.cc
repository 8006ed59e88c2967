// The stored form of cursors is fixed: docs/formats/cursors.md.
#include "db/cursor.h"

#include "db/test_formats.h"

namespace sluice::db {
namespace {

TEST(CursorFormat, Golden) {
  EXPECT_EQ(ToHex(CursorKey({"f", 1, 2})), "000166000002");
  EXPECT_EQ(ToHex(CursorPrefix("f", 1)), "00016600");
  CursorState state;
  state.position.sequence = 300;
  state.events = 5;
  EXPECT_EQ(ToHex(EncodeCursor(state)), "0100ac02ffffffff0f05");
  state.position.n = 1;
  state.backfilling = true;
  state.backfill_from = 7;
  state.backfill_keyspace = 3;
  state.backfill_key = "k";
  EXPECT_EQ(ToHex(EncodeCursor(state)), "0101ac0201050700000003016b");
  EXPECT_EQ(*DecodeCursor(EncodeCursor(state)), state);
}

TEST(CursorFormat, RefusesWhatItDoesNotKnow) {
  const auto decodes = [](std::string_view row) { return DecodeCursor(row).has_value(); };
  CursorState state;
  ExpectOnlyWhole(EncodeCursor(state), decodes);
  state.backfilling = true;
  state.backfill_key = "key";
  ExpectOnlyWhole(EncodeCursor(state), decodes);
  EXPECT_FALSE(decodes(EncodeCursor(state) + "x"));
  EXPECT_FALSE(decodes(std::string("\x01\x02\x01\x01\x01", 5))) << "an unknown bit";
  EXPECT_FALSE(decodes(std::string("\x01\x00\x01\xff\xff\xff\xff\x1f\x01", 9))) << "n too large";
}

TEST(CursorFormat, Keys) {
  const CursorId read = *DecodeCursorKey(CursorKey({"a/b", 1, 2}));
  EXPECT_EQ(read.follower, "a/b");
  EXPECT_EQ(read.shard, 1u);
  EXPECT_EQ(read.lane, 2u);
  EXPECT_EQ(DecodeCursorKey("ab").error().id(), "cursor.corrupt");
  EXPECT_EQ(DecodeCursorKey("abcdefg").error().id(), "cursor.corrupt");
}

TEST(LogPosition, Done) {
  EXPECT_EQ((LogPosition{5, UINT32_MAX}).done(), 5u);
  EXPECT_EQ((LogPosition{5, 3}).done(), 4u);
  EXPECT_EQ((LogPosition{0, 3}).done(), 0u);
}

}  // namespace
}  // namespace sluice::db
