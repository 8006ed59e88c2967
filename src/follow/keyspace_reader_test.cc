#include "follow/keyspace_reader.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/test_database.h"

namespace sluice::follow {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using Keys = std::vector<std::string>;

class KeyspaceReaderTest : public db::DatabaseTest {
 protected:
  KeyspaceReaderTest() { options_.shards = 4; }

  void PutMany(const std::string& prefix, size_t count) {
    for (size_t i = 0; i < count; ++i)
      ASSERT_TRUE(Put(prefix + std::to_string(i), "{}").status.ok());
  }
  static Keys ReadAll(KeyspaceReader& reader, size_t at_once) {
    Keys keys;
    while (true) {
      const auto given = reader.Read(at_once, [&](const db::Change& change) {
        keys.emplace_back(change.key);
        return true;
      });
      EXPECT_TRUE(given.has_value());
      EXPECT_LE(*given, at_once);
      if (!given || *given == 0) return keys;
    }
  }
};

TEST_F(KeyspaceReaderTest, ReadsWhatComesInAllShards) {
  ASSERT_TRUE(Put("before", "{}").status.ok());
  const auto reader = KeyspaceReader::Open(*database_, keyspace_, KeyspaceReader::From::kNow);
  ASSERT_TRUE(reader.has_value());
  EXPECT_TRUE((*reader)->InLog());
  EXPECT_THAT(ReadAll(**reader, 10), ElementsAre());
  PutMany("k", 40);
  const Keys keys = ReadAll(**reader, 7);
  EXPECT_EQ(keys.size(), 40u);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 40u);
}

TEST_F(KeyspaceReaderTest, ReadsWhatIsThereFirst) {
  PutMany("old", 5);
  const auto reader =
      KeyspaceReader::Open(*database_, keyspace_, KeyspaceReader::From::kEverything);
  ASSERT_TRUE(reader.has_value());
  EXPECT_FALSE((*reader)->InLog());
  ASSERT_TRUE(Put("new", "{}").status.ok());
  EXPECT_THAT(ReadAll(**reader, 100),
              UnorderedElementsAre("old0", "old1", "old2", "old3", "old4", "new"));
  EXPECT_TRUE((*reader)->InLog());
}

TEST_F(KeyspaceReaderTest, GoesOnAtItsPlacesWithoutAGapOrARepetition) {
  auto first = KeyspaceReader::Open(*database_, keyspace_, KeyspaceReader::From::kNow);
  ASSERT_TRUE(first.has_value());
  PutMany("k", 20);
  Keys keys;
  std::vector<db::CursorState> places;
  const auto given = (*first)->Read(100, [&](const db::Change& change) {
    keys.emplace_back(change.key);
    places = (*first)->places();
    return keys.size() < 9;
  });
  EXPECT_EQ(*given, 9u);
  const auto second = KeyspaceReader::OpenAt(*database_, keyspace_, places);
  ASSERT_TRUE(second.has_value());
  for (std::string& key : ReadAll(**second, 100)) keys.push_back(std::move(key));
  EXPECT_EQ(keys.size(), 20u);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 20u);
}

}  // namespace
}  // namespace sluice::follow
