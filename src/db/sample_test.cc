#include "db/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/test_database.h"

namespace sluice::db {
namespace {

using testing::ElementsAre;

class SampleTest : public DatabaseTest {
 protected:
  void Fill(int count, size_t bytes = 0) {
    for (int i = 0; i < count;) {
      Commit commit;
      for (; i < count && commit.writes.size() < 500; ++i) {
        commit.writes.push_back(PutWrite(keyspace_, fmt::format("k{:06}", i),
                                         Json("\"" + std::string(bytes, 'x') + "\"")));
      }
      ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
    }
  }
  std::vector<std::string> Sample(uint64_t documents) {
    const auto snapshot = database_->NewSnapshot();
    const auto cursor = NewSampleCursor(*database_, keyspace_, documents, *snapshot);
    std::vector<std::string> keys;
    while (cursor->Next()) keys.emplace_back(cursor->key());
    EXPECT_TRUE(cursor->status().ok());
    return keys;
  }
};

TEST_F(SampleTest, OfFewDocuments) {
  EXPECT_THAT(Sample(10), ElementsAre());
  Fill(10);
  ASSERT_TRUE(Delete("k000003").status.ok());
  EXPECT_EQ(Sample(100).size(), 9u);
  EXPECT_THAT(Sample(3), ElementsAre("k000000", "k000004", "k000007"));
}

TEST_F(SampleTest, OfManyItComesFromEverywhere) {
  constexpr int kDocuments = 20'000;
  Fill(kDocuments, 1000);
  const std::vector<std::string> keys = Sample(1000);
  EXPECT_EQ(keys.size(), 1000u);
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  std::array<int, 4> quarters = {};
  for (const std::string& key : keys) {
    ++quarters[static_cast<size_t>(std::stoi(key.substr(1))) * 4 / kDocuments];
  }
  for (const int found : quarters) EXPECT_GT(found, 100);
  EXPECT_EQ(Sample(kDocuments * 2).size(), static_cast<size_t>(kDocuments));
}

}  // namespace
}  // namespace sluice::db
