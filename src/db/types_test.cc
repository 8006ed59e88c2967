// The places of documents are part of the stored form, and clients of Couchbase compute them, too.
#include "db/types.h"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/table_schema.h"

namespace sluice::db {
namespace {

struct Place {
  std::string key;
  uint16_t vbucket;
  ShardId of_3;
  ShardId of_4;
  ShardId of_256;
};

// Computed with Python: ((zlib.crc32(key) >> 16) & 0x7fff) % 1024, and that * shards // 1024.
const Place kPlaces[] = {
    {"", 0, 0, 0, 0},
    {"a", 183, 0, 0, 45},
    {"key", 656, 1, 2, 164},
    {"order::1", 276, 0, 1, 69},
    {"airline_10", 361, 1, 1, 90},
    {"hotel_10025", 564, 1, 2, 141},
    {"\xc3\xa9", 516, 1, 2, 129},
    {"01890a5d-ac96-774b-bcce-b302099a8057", 59, 0, 0, 14},
    {std::string(250, 'k'), 151, 0, 0, 37},
};

TEST(Places, AreThoseOfCouchbasesClients) {
  constexpr KeyspaceId kCollection = 7;
  for (const Place& place : kPlaces) {
    SCOPED_TRACE(place.key);
    EXPECT_EQ(VBucketOf(place.key), place.vbucket);
    EXPECT_EQ(ShardOfKey(place.key, 1), 0);
    EXPECT_EQ(ShardOfKey(place.key, 3), place.of_3);
    EXPECT_EQ(ShardOfKey(place.key, 4), place.of_4);
    EXPECT_EQ(ShardOfKey(place.key, kMaxShards), place.of_256);
    EXPECT_EQ(ShardOf(kCollection, place.key, 4), place.of_4) << "whatever the keyspace";
    EXPECT_EQ(ShardOf(kCollection | kTableIdBit, place.key, 4), kTablesShard);
  }
}

TEST(Places, EveryShardHasSome) {
  for (const uint16_t shards : {2, 3, 4, 7, 256}) {
    std::set<ShardId> seen;
    for (int i = 0; i < 10'000; ++i) seen.insert(ShardOfKey(fmt::format("key{}", i), shards));
    EXPECT_EQ(seen.size(), shards);
    EXPECT_EQ(*seen.rbegin(), shards - 1);
  }
}

}  // namespace
}  // namespace sluice::db
