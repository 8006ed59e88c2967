#include "db/reader.h"

#include <map>
#include <random>
#include <thread>

#include <gmock/gmock.h>

#include "db/test_database.h"
#include "db/transaction.h"
#include "json/key_encoding.h"

namespace sluice::db {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Encoded(int64_t number) {
  std::string parts;
  CHECK(json::AppendKeyPart(json::Value(number), json::Direction::kAscending, &parts).ok());
  return parts;
}

class ReaderTest : public DatabaseTest {
 protected:
  ReaderTest() { options_.durability = Durability::kNone; }

  static std::string All(DocumentCursor& cursor) {
    std::string all;
    while (cursor.Next()) {
      all += std::string(cursor.key()) + "=" + std::string(cursor.document().body) + " ";
    }
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().ToString();
    EXPECT_FALSE(cursor.Next());
    return all;
  }
  static std::string All(IndexCursor& cursor) {
    std::string all;
    while (cursor.Next()) {
      std::string_view parts = cursor.parts();
      all += std::to_string(json::TakeKeyPart(&parts, json::Direction::kAscending)->AsInt()) + ":" +
             std::string(cursor.key()) + " ";
    }
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().ToString();
    EXPECT_FALSE(cursor.Next());
    return all;
  }
  std::string Scan(Reader& reader, const DocumentRange& range = {}) {
    return All(*reader.Scan(keyspace_, range));
  }
  std::string ScanIndex(Reader& reader, const IndexRange& range = {}) {
    return All(*reader.ScanIndex(*TheIndex(), range));
  }
  std::shared_ptr<const Index> TheIndex() {
    return database_->catalog()->Find(keyspace_)->indexes.at(0);
  }
  void CreateIndex(const std::string& name = "by_n") {
    ASSERT_TRUE(database_->admin().CreateIndex({.bucket = "b"}, {name, {{.path = "n"}}}).ok());
  }
  std::string GetMany(Reader& reader, const std::vector<std::string_view>& keys) {
    std::vector<PinnedDocument> documents;
    std::vector<bool> found;
    const Status read = reader.GetMany(keyspace_, keys, &documents, &found);
    EXPECT_TRUE(read.ok()) << read.ToString();
    std::string all;
    for (size_t i = 0; i < keys.size(); ++i) {
      all += (found[i] ? std::string(documents[i]->body) : "-") + " ";
    }
    return all;
  }
};

TEST_F(ReaderTest, ASnapshotStandsStill) {
  const uint64_t soon_ms = clock_.WallMs() + 1'000;
  CreateIndex();
  ASSERT_TRUE(Put("a", R"({"n":2})").status.ok());
  ASSERT_TRUE(Put("b", R"({"n":1})").status.ok());
  ASSERT_TRUE(Put("gone", "{}").status.ok());
  ASSERT_TRUE(Delete("gone").status.ok());
  ASSERT_TRUE(Apply(PutWrite(keyspace_, "x", Json(R"({"n":0})", soon_ms))).status.ok());
  const auto reader = NewSnapshotReader(*database_);
  ASSERT_TRUE(Put("a", R"({"n":9})").status.ok());
  ASSERT_TRUE(Put("c", R"({"n":3})").status.ok());
  ASSERT_TRUE(Delete("b").status.ok());
  clock_.AdvanceMs(2'000);
  EXPECT_EQ(Scan(*reader), R"(a={"n":2} b={"n":1} x={"n":0} )");
  EXPECT_EQ(Scan(*reader, {.reverse = true}), R"(x={"n":0} b={"n":1} a={"n":2} )");
  EXPECT_EQ(Scan(*reader, {.from = "aa", .to = "x"}), R"(b={"n":1} )");
  EXPECT_EQ(Scan(*reader, {.from = "x", .to = "aa"}), "");
  EXPECT_EQ(ScanIndex(*reader), "0:x 1:b 2:a ");
  EXPECT_EQ(ScanIndex(*reader, {.reverse = true}), "2:a 1:b 0:x ");
  EXPECT_EQ(ScanIndex(*reader, {.from = Encoded(1), .to = Encoded(2)}), "1:b ");
  EXPECT_EQ(GetMany(*reader, {"x", "c", "a", "gone", "a"}), R"({"n":0} - {"n":2} - {"n":2} )");
  PinnedDocument document;
  EXPECT_TRUE(*reader->Get(keyspace_, "x", &document));
  EXPECT_FALSE(*reader->Get(keyspace_, "c", &document));
  EXPECT_EQ(Scan(*NewSnapshotReader(*database_)), R"(a={"n":9} c={"n":3} )");
}

TEST_F(ReaderTest, ALateReaderStandsStillFromItsFirstReadOn) {
  ASSERT_TRUE(Put("a", "1").status.ok());
  const auto reader = NewLateReader(*database_);
  PinnedDocument document;
  ASSERT_TRUE(*reader->GetOnly(keyspace_, "a", &document));
  EXPECT_EQ(document->body, "1");
  ASSERT_TRUE(Put("a", "2").status.ok());
  ASSERT_TRUE(*reader->GetOnly(keyspace_, "a", &document));
  EXPECT_EQ(document->body, "2");
  EXPECT_EQ(Scan(*reader), "a=2 ");
  ASSERT_TRUE(Put("a", "3").status.ok());
  ASSERT_TRUE(Put("b", "3").status.ok());
  EXPECT_EQ(Scan(*reader), "a=2 ");
  EXPECT_EQ(GetMany(*reader, {"a", "b"}), "2 - ");
  ASSERT_TRUE(*reader->Get(keyspace_, "a", &document));
  EXPECT_EQ(document->body, "2");
  ASSERT_TRUE(*reader->GetOnly(keyspace_, "a", &document));
  EXPECT_EQ(document->body, "3");
}

TEST_F(ReaderTest, ManyDocumentsAtOnce) {
  std::vector<std::string> keys;
  for (int i = 0; i < 200; ++i) keys.push_back("k" + std::to_string(i));
  for (int i = 0; i < 200; i += 2) ASSERT_TRUE(Put(keys[i], std::to_string(i)).status.ok());
  const auto reader = NewSnapshotReader(*database_);
  std::vector<PinnedDocument> documents;
  std::vector<bool> found;
  for (size_t count : {200u, 3u, 0u, 100u}) {  // the vectors are used again
    const std::vector<std::string_view> wanted(keys.begin(), keys.begin() + count);
    ASSERT_TRUE(reader->GetMany(keyspace_, wanted, &documents, &found).ok());
    ASSERT_EQ(documents.size(), count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(found[i], i % 2 == 0);
      EXPECT_EQ(found[i] ? documents[i]->body : "-", found[i] ? std::to_string(i) : "-");
    }
  }
  // A moved document still shows its own bytes.
  PinnedDocument moved = std::move(documents[4]);
  documents.clear();
  EXPECT_EQ(moved->body, "4");
}

TEST_F(ReaderTest, AnIndexMadeOrDroppedMeanwhileIsAnError) {
  ASSERT_TRUE(Put("a", R"({"n":2})").status.ok());
  const auto before = NewSnapshotReader(*database_);
  CreateIndex();
  const auto index = TheIndex();
  const auto cursor = before->ScanIndex(*index, {});
  EXPECT_FALSE(cursor->Next());
  EXPECT_EQ(cursor->status().id(), "index.not_found");
  const auto between = NewSnapshotReader(*database_);
  ASSERT_TRUE(database_->admin().DropIndex({.bucket = "b"}, "by_n").ok());
  EXPECT_EQ(All(*between->ScanIndex(*index, {})), "2:a ");
  const auto after = NewSnapshotReader(*database_);
  EXPECT_EQ(after->ScanIndex(*index, {})->status().id(), "index.not_found");
}

TEST_F(ReaderTest, ATransactionReadsItsOwnWrites) {
  CreateIndex();
  for (const char* key : {"b", "d", "f"}) ASSERT_TRUE(Put(key, R"({"n":5})").status.ok());
  Transaction transaction(*database_);
  const auto reader = NewTransactionReader(transaction);
  ASSERT_TRUE(transaction.Put(keyspace_, "a", Json(R"({"n":9})")));
  ASSERT_TRUE(transaction.Put(keyspace_, "d", Json(R"({"n":1})")));
  ASSERT_TRUE(transaction.Delete(keyspace_, "b").ok());
  EXPECT_EQ(Scan(*reader), R"(a={"n":9} d={"n":1} f={"n":5} )");
  EXPECT_EQ(Scan(*reader, {.reverse = true}), R"(f={"n":5} d={"n":1} a={"n":9} )");
  EXPECT_EQ(ScanIndex(*reader), "1:d 5:f 9:a ");
  EXPECT_EQ(ScanIndex(*reader, {.reverse = true}), "9:a 5:f 1:d ");
  EXPECT_EQ(ScanIndex(*reader, {.from = Encoded(5)}), "5:f 9:a ");
  EXPECT_EQ(GetMany(*reader, {"a", "b", "f", "zz"}), R"({"n":9} - {"n":5} - )");
  const size_t savepoint = transaction.Savepoint();
  ASSERT_TRUE(transaction.Delete(keyspace_, "f").ok());
  EXPECT_EQ(ScanIndex(*reader), "1:d 9:a ");
  transaction.RollbackTo(savepoint);
  EXPECT_EQ(ScanIndex(*reader), "1:d 5:f 9:a ");
}

TEST_F(ReaderTest, ACursorDoesNotMeetWritesMadeBehindIt) {
  for (const char* key : {"b", "d", "f"}) ASSERT_TRUE(Put(key, "0").status.ok());
  Transaction transaction(*database_);
  ASSERT_TRUE(transaction.Put(keyspace_, "c", Json("0")));
  const auto reader = NewTransactionReader(transaction);
  const auto cursor = reader->Scan(keyspace_, {});
  std::vector<std::string> met;
  const size_t savepoint = transaction.Savepoint();
  while (cursor->Next()) {
    met.emplace_back(cursor->key());
    ASSERT_TRUE(transaction.Put(keyspace_, met.back() + "+", Json("1")));
    ASSERT_TRUE(transaction.Put(keyspace_, met.back(), Json("1")));
    if (met.back() == "d") transaction.RollbackTo(savepoint);
  }
  EXPECT_THAT(met, ElementsAre("b", "c", "d", "f"));
  EXPECT_EQ(Scan(*reader), "b=0 c=0 d=0 f=1 f+=1 ");
}

TEST_F(ReaderTest, WhatATransactionReadsIsChecked) {
  CreateIndex();
  for (const char* key : {"b", "d"}) ASSERT_TRUE(Put(key, R"({"n":5})").status.ok());
  const auto conflicts = [&](const std::function<void(Reader&)>& read, const std::string& key) {
    Transaction transaction(*database_);
    const auto reader = NewTransactionReader(transaction);
    read(*reader);
    EXPECT_TRUE(transaction.Put(keyspace_, "mine", Json("1")));
    EXPECT_TRUE(Put(key, R"({"n":5})").status.ok());
    const Status applied = transaction.Apply().status;
    EXPECT_TRUE(applied.ok() || applied.id() == "transaction.conflict") << applied.ToString();
    return !applied.ok();
  };
  const auto scan = [&](Reader& reader) { Scan(reader, {.from = "b", .to = "d"}); };
  EXPECT_TRUE(conflicts(scan, "b"));
  EXPECT_TRUE(conflicts(scan, "c"));
  EXPECT_FALSE(conflicts(scan, "d"));
  const auto many = [&](Reader& reader) { GetMany(reader, {"b", "absent"}); };
  EXPECT_TRUE(conflicts(many, "b"));
  EXPECT_FALSE(conflicts(many, "d"));
  EXPECT_TRUE(conflicts(many, "absent"));
  EXPECT_TRUE(conflicts([&](Reader& reader) { ScanIndex(reader); }, "new"));
  const auto often = [&](Reader& reader) {
    for (int i = 0; i < 1000; ++i) {
      const std::string from = "p" + std::to_string(i);
      Scan(reader, {.from = from, .to = from + "!"});
    }
  };
  EXPECT_TRUE(conflicts(often, "p77"));
}

TEST_F(ReaderTest, ATransactionMayStartAtAnEarlierMoment) {
  ASSERT_TRUE(Put("a", "1").status.ok());
  const std::shared_ptr<const DatabaseSnapshot> then = database_->NewSnapshot();
  ASSERT_TRUE(Put("a", "2").status.ok());
  EXPECT_EQ(Scan(*NewSnapshotReader(*database_, then)), "a=1 ");
  Transaction transaction(*database_, then);
  EXPECT_EQ((*transaction.Get(keyspace_, "a"))->body, "1");
  EXPECT_EQ(Scan(*NewTransactionReader(transaction)), "a=1 ");
  ASSERT_TRUE(transaction.Put(keyspace_, "a", Json("3")));
  EXPECT_EQ(transaction.Apply().status.id(), "transaction.conflict");
}

// Random writes, some of them the transaction's own: every way to read gives the same documents.
TEST_F(ReaderTest, EveryWayToReadAgrees) {
  CreateIndex();
  std::mt19937 random(7);
  const auto key_of = [&] { return "k" + std::to_string(random() % 30); };
  const auto body_of = [](unsigned n) { return "{\"n\":" + std::to_string(n) + "}"; };
  for (int round = 0; round < 60; ++round) {
    const std::string key = key_of();
    if (random() % 4 == 0) {
      ASSERT_TRUE(Delete(key).status.ok());
    } else {
      ASSERT_TRUE(Put(key, body_of(random() % 5)).status.ok());
    }
    Transaction transaction(*database_);
    const auto reader = NewTransactionReader(transaction);
    std::map<std::string, std::string> expected;
    for (int i = 0; i < 30; ++i) {
      if (const std::string body = Get("k" + std::to_string(i)); body != "-") {
        expected["k" + std::to_string(i)] = body;
      }
    }
    for (int i = 0; i < 8; ++i) {
      const std::string own = key_of();
      if (random() % 3 == 0) {
        (void)transaction.Delete(keyspace_, own);
        expected.erase(own);
      } else {
        const std::string body = body_of(random() % 5);
        ASSERT_TRUE(transaction.Put(keyspace_, own, Json(body)));
        expected[own] = body;
      }
    }
    std::string scanned;
    std::multimap<std::string, std::string> sorted;
    for (const auto& [k, body] : expected) {
      scanned += k + "=" + body + " ";
      sorted.emplace(body, k);
    }
    std::string indexed;
    for (const auto& [body, k] : sorted) indexed += body.substr(5, 1) + ":" + k + " ";
    ASSERT_EQ(Scan(*reader), scanned) << "round " << round;
    ASSERT_EQ(ScanIndex(*reader), indexed) << "round " << round;
    for (const auto& [k, body] : expected) ASSERT_EQ(GetMany(*reader, {k}), body + " ");
  }
}

TEST_F(ReaderTest, OneSnapshotReaderServesSeveralThreads) {
  CreateIndex();
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(Put("k" + std::to_string(i), "{\"n\":" + std::to_string(i) + "}").status.ok());
  }
  const auto reader = NewSnapshotReader(*database_);
  const std::string documents = Scan(*reader);
  const std::string rows = ScanIndex(*reader);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(Scan(*reader), documents);
      EXPECT_EQ(ScanIndex(*reader), rows);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class SeveralShardsReaderTest : public ReaderTest {
 protected:
  SeveralShardsReaderTest() { options_.shards = 3; }
};

TEST_F(SeveralShardsReaderTest, ReadsInOneOrder) {
  CreateIndex();
  for (int i = 9; i > 0; --i) {
    ASSERT_TRUE(Put("k" + std::to_string(i), "{\"n\":" + std::to_string(i) + "}").status.ok());
  }
  const auto reader = NewSnapshotReader(*database_);
  EXPECT_EQ(ScanIndex(*reader), "1:k1 2:k2 3:k3 4:k4 5:k5 6:k6 7:k7 8:k8 9:k9 ");
  EXPECT_EQ(ScanIndex(*reader, {.to = Encoded(3), .reverse = true}), "2:k2 1:k1 ");
  EXPECT_EQ(GetMany(*reader, {"k9", "k0", "k1"}), R"({"n":9} - {"n":1} )");
  Transaction transaction(*database_);
  const auto own = NewTransactionReader(transaction);
  ASSERT_TRUE(transaction.Put(keyspace_, "k1", Json(R"({"n":10})")));
  EXPECT_EQ(ScanIndex(*own), "2:k2 3:k3 4:k4 5:k5 6:k6 7:k7 8:k8 9:k9 10:k1 ");
}

// --- estimates ----------------------------------------------------------------------------------

class EstimateTest : public ReaderTest {
 protected:
  static constexpr int kDocuments = 20'000;

  void Fill() {
    for (int i = 0; i < kDocuments; i += 1000) {
      Commit commit;
      for (int n = i; n < i + 1000; ++n) {
        commit.writes.push_back(
            PutWrite(keyspace_, fmt::format("user::{:06}", n),
                     Json(fmt::format(R"({{"n":{},"text":"{:0>300}"}})", n, n * 7919))));
      }
      ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
    }
  }
  void ExpectEqualParts(size_t parts) {
    std::vector<std::string> points = database_->estimates().SplitPoints(keyspace_, parts);
    ASSERT_EQ(points.size(), parts - 1);
    points.push_back("");
    std::string from;
    int total = 0;
    const auto reader = NewSnapshotReader(*database_);
    for (const std::string& to : points) {
      int count = 0;
      const auto cursor = reader->Scan(keyspace_, {.from = from, .to = to});
      while (cursor->Next()) ++count;
      EXPECT_NEAR(count, kDocuments / static_cast<int>(parts), kDocuments / parts / 2) << to;
      total += count;
      from = to;
    }
    EXPECT_EQ(total, kDocuments);
  }
  void ExpectEstimates(uint64_t factor) {
    const auto expect_about = [&](uint64_t estimate, uint64_t rows) {
      EXPECT_GE(estimate, rows / factor);
      EXPECT_LE(estimate, rows * factor);
    };
    expect_about(database_->estimates().Rows(keyspace_), kDocuments);
    expect_about(database_->estimates().Rows(*TheIndex(), Encoded(kDocuments / 2), ""),
                 kDocuments / 2);
    EXPECT_EQ(database_->estimates().Rows(*TheIndex(), Encoded(10), Encoded(25)), 15u);
  }
};

TEST_F(EstimateTest, SmallOnesAreExactAndWhole) {
  CreateIndex();
  EXPECT_EQ(database_->estimates().Rows(keyspace_), 0u);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put("k" + std::to_string(i), "{}").status.ok());
  EXPECT_EQ(database_->estimates().Rows(keyspace_), 100u);
  EXPECT_EQ(database_->estimates().Rows(*TheIndex(), "", ""), 0u);
  EXPECT_THAT(database_->estimates().SplitPoints(keyspace_, 4), IsEmpty());
}

TEST_F(EstimateTest, InMemoryAndInFiles) {
  CreateIndex();
  Fill();
  ExpectEstimates(2);
  ExpectEqualParts(2);
  Reopen();  // closing writes files
  ExpectEstimates(2);
  ExpectEqualParts(2);
  ExpectEqualParts(4);
}

}  // namespace
}  // namespace sluice::db
