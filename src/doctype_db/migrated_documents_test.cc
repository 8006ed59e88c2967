#include "doctype_db/migrated_documents.h"

#include <gtest/gtest.h>

namespace sluice::doctype_db {
namespace {

db::DocumentView Stored(std::string_view body, db::Sequence sequence = 1) {
  db::DocumentView view;
  view.body = body;
  view.sequence = sequence;
  view.cas = 7;
  return view;
}

TEST(MigratedDocuments, OneThatWasWrittenMeanwhileIsNotFound) {
  MigratedDocuments documents(10'000);
  EXPECT_EQ(documents.Find("k", Stored("1")), std::nullopt);
  documents.Keep("k", Stored("1"), "one");
  EXPECT_EQ(documents.Find("k", Stored("1")), "one");
  EXPECT_EQ(documents.Find("k", Stored("1", 2)), std::nullopt);
  // The server changed it without making a new version.
  EXPECT_EQ(documents.Find("k", Stored("2")), std::nullopt);
  documents.Keep("k", Stored("2"), "two");
  EXPECT_EQ(documents.Find("k", Stored("1")), std::nullopt);
  EXPECT_EQ(documents.Find("k", Stored("2")), "two");
}

TEST(MigratedDocuments, OneThatIsNotStoredIsNotKept) {
  MigratedDocuments documents(10'000);
  documents.Keep("k", Stored("1", 0), "one");
  EXPECT_EQ(documents.Find("k", Stored("1", 0)), std::nullopt);
}

TEST(MigratedDocuments, ThoseNotAskedForGoFirst) {
  constexpr size_t kMost = 10'000;
  MigratedDocuments documents(kMost);
  for (int i = 0; i < 1000; ++i) {
    documents.Keep(std::to_string(i), Stored("s"), std::string(100, 'm'));
    EXPECT_LE(documents.bytes(), kMost);
    EXPECT_NE(documents.Find("0", Stored("s")), std::nullopt) << i;
  }
  EXPECT_EQ(documents.Find("1", Stored("s")), std::nullopt);
}

// Which would keep none of them if each one took the place of the oldest.
TEST(MigratedDocuments, OfTooManyInTurnSomeStay) {
  MigratedDocuments documents(10'000);
  constexpr int kDocuments = 100;  // four times what there is room for
  int hits = 0;
  for (int round = 0; round < 20; ++round) {
    hits = 0;
    for (int i = 0; i < kDocuments; ++i) {
      const std::string key = std::to_string(i);
      if (documents.Find(key, Stored("s"))) {
        ++hits;
      } else {
        documents.Keep(key, Stored("s"), std::string(200, 'm'));
      }
    }
  }
  EXPECT_GE(hits, 20);
  // But they do not stay for ever: others are asked for now.
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 10; ++i) {
      const std::string key = "new " + std::to_string(i);
      if (!documents.Find(key, Stored("s"))) {
        documents.Keep(key, Stored("s"), std::string(200, 'm'));
      }
    }
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(documents.Find("new " + std::to_string(i), Stored("s"))) << i;
  }
}

TEST(MigratedDocuments, OneThatIsTooLargeIsNotKept) {
  MigratedDocuments documents(1000);
  documents.Keep("small", Stored("s"), "m");
  for (size_t i = 0; i < MigratedDocuments::kTakenOneIn; ++i) {
    documents.Keep("large", Stored("s"), std::string(1000, 'm'));
  }
  EXPECT_EQ(documents.Find("large", Stored("s")), std::nullopt);
  EXPECT_EQ(documents.Find("small", Stored("s")), "m");
}

}  // namespace
}  // namespace sluice::doctype_db
