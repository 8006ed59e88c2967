#include "typing/migrated_documents.h"

#include <gtest/gtest.h>

namespace sluice::typing {
namespace {

TEST(MigratedDocuments, OneThatWasWrittenMeanwhileIsNotFound) {
  MigratedDocuments documents(10'000);
  EXPECT_EQ(documents.Find("k", "1"), std::nullopt);
  documents.Keep("k", "1", "one");
  EXPECT_EQ(documents.Find("k", "1"), "one");
  EXPECT_EQ(documents.Find("k", "2"), std::nullopt);
  documents.Keep("k", "2", "two");
  EXPECT_EQ(documents.Find("k", "1"), std::nullopt);
  EXPECT_EQ(documents.Find("k", "2"), "two");
}

TEST(MigratedDocuments, ThoseNotAskedForGoFirst) {
  constexpr size_t kMost = 10'000;
  MigratedDocuments documents(kMost);
  for (int i = 0; i < 1000; ++i) {
    documents.Keep(std::to_string(i), std::string(100, 's'), std::string(100, 'm'));
    EXPECT_LE(documents.bytes(), kMost);
    EXPECT_NE(documents.Find("0", std::string(100, 's')), std::nullopt) << i;
  }
  EXPECT_NE(documents.Find("999", std::string(100, 's')), std::nullopt);
  EXPECT_EQ(documents.Find("1", std::string(100, 's')), std::nullopt);
}

TEST(MigratedDocuments, OneThatIsTooLargeIsNotKept) {
  MigratedDocuments documents(1000);
  documents.Keep("small", "s", "m");
  documents.Keep("large", "s", std::string(1000, 'm'));
  EXPECT_EQ(documents.Find("large", "s"), std::nullopt);
  EXPECT_EQ(documents.Find("small", "s"), "m");
}

}  // namespace
}  // namespace sluice::typing
