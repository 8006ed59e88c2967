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
  std::vector<std::string> Sample(uint64_t documents, uint64_t counted = kCountedDocuments) {
    const auto snapshot = database_->NewSnapshot();
    const auto cursor = NewSampleCursor(*database_, keyspace_, documents, *snapshot, counted);
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
  EXPECT_EQ(Sample(3).size(), 3u);
  EXPECT_EQ(Sample(kAllDocuments).size(), 9u);
}

// Documents of one kind lie beside each other in key order: each has its share in the sample.
TEST_F(SampleTest, IsNotOfTheFirstOnes) {
  Fill(10'000);
  std::array<int, 10> parts = {};
  const std::vector<std::string> keys = Sample(1000);
  EXPECT_EQ(keys.size(), 1000u);
  for (const std::string& key : keys) ++parts[static_cast<size_t>(std::stoi(key.substr(1))) / 1000];
  for (const int found : parts) {
    EXPECT_GT(found, 60);
    EXPECT_LT(found, 140);
  }
}

// More than are counted: keys are found without reading all.
TEST_F(SampleTest, OfTooManyToCount) {
  Fill(10'000, 100);
  std::array<int, 10> parts = {};
  const std::vector<std::string> keys = Sample(500, 1000);
  EXPECT_GT(keys.size(), 400u);
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  for (const std::string& key : keys) ++parts[static_cast<size_t>(std::stoi(key.substr(1))) / 1000];
  // How even it is depends on where the files end.
  for (const int found : parts) {
    EXPECT_GT(found, 5);
    EXPECT_LT(found, 150);
  }
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
