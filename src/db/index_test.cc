#include "db/index.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "base/random.h"
#include "db/database_impl.h"
#include "db/test_database.h"
#include "db/test_formats.h"
#include "json/key_encoding.h"
#include "json/parse.h"

namespace sluice::db {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

DocumentView Text(std::string_view body) {
  DocumentView document;
  document.body = body;
  return document;
}

Index Make(std::vector<IndexPart> parts) {
  return *Index::Make(7, 3, {"i", std::move(parts)}, Index::State::kReady);
}

std::vector<std::string> Hex(const Result<std::vector<std::string>>& entries) {
  std::vector<std::string> hex;
  for (const std::string& entry : *entries) hex.push_back(ToHex(entry));
  return hex;
}

TEST(IndexFormat, Golden) {
  const Index index = Make({{.path = "a"}});
  EXPECT_THAT(Hex(index.Entries("k", Text(R"({"a":"a"})"))), ElementsAre("40610001"));
  EXPECT_EQ(ToHex(index.RowKey(1, "\x18", "key")), "000100000007186b65790003");
  EXPECT_EQ(ToHex(index.Prefix(1)), "000100000007");
  EXPECT_EQ(IndexRowValue().Encode(), "");
  EXPECT_EQ(ToHex(IndexRowValue{.expiry_ms = 1000}.Encode()), "e807");
  EXPECT_EQ(ToHex(IndexRowValue{.expiry_ms = 1000, .copies = 3}.Encode()), "e80703");
  EXPECT_EQ(ToHex(IndexRowValue{.copies = 3}.Encode()), "0003");
}

TEST(IndexFormat, Decodes) {
  const std::string stored("\x18key\x00\x03", 6);
  const IndexRow row = *DecodeIndexRow(stored);
  EXPECT_EQ(row.parts, "\x18");
  EXPECT_EQ(row.key, "key");
  EXPECT_EQ(DecodeIndexRow(std::string("key\x00\x04", 5)).error().id(), "index.corrupt");
  EXPECT_EQ(DecodeIndexRow("k").error().id(), "index.corrupt");
  EXPECT_EQ(IndexRowValue::Decode("")->expiry_ms, 0u);
  EXPECT_EQ(IndexRowValue::Decode("")->copies, 1u);
  EXPECT_EQ(IndexRowValue::Decode("\xe8\x07")->expiry_ms, 1000u);
  EXPECT_EQ(IndexRowValue::Decode("\xe8\x07")->copies, 1u);
  EXPECT_EQ(IndexRowValue::Decode("\xe8\x07\x03")->copies, 3u);
  for (const char* malformed : {"\xe8", "\x01\x01", "\x01\x02\x03", "\x01\xff\xff\x7f"}) {
    EXPECT_EQ(IndexRowValue::Decode(malformed).error().id(), "index.corrupt") << malformed;
  }
}

TEST(Index, Entries) {
  const Index composite = Make({{.path = "a"}, {.path = "b", .descending = true}});
  EXPECT_THAT(Hex(composite.Entries("k", Text(R"({"a":null,"b":"a"})"))),
              ElementsAre("18bf9efffe"));
  EXPECT_THAT(Hex(composite.Entries("k", Text(R"({"a":null})"))), ElementsAre("18ef"));
  EXPECT_THAT(*composite.Entries("k", Text(R"({"b":1})")), IsEmpty())
      << "the first part is missing";
  const Index each = Make({{.path = "t", .each_element = true}, {.path = "META().id"}});
  EXPECT_THAT(Hex(each.Entries("k", Text(R"({"t":["b","a","b"]})"))),
              ElementsAre("40610001406b0001", "40620001406b0001"));
  EXPECT_THAT(*each.Entries("k", Text(R"({"t":[]})")), IsEmpty());
  EXPECT_THAT(*each.Entries("k", Text(R"({"t":"a"})")), IsEmpty());
  const Index each_second = Make({{.path = "a"}, {.path = "t", .each_element = true}});
  EXPECT_THAT(Hex(each_second.Entries("k", Text(R"({"a":null,"t":[null,true]})"))),
              ElementsAre("1818", "1821"));
  EXPECT_THAT(Hex(each_second.Entries("k", Text(R"({"a":null,"t":[]})"))), ElementsAre("1810"));
  DocumentView binary = Text("\xff");
  binary.datatype = Datatype::kBinary;
  EXPECT_THAT(*composite.Entries("k", binary), IsEmpty());
}

TEST(Index, Limits) {
  const auto id = [](std::vector<IndexPart> parts) {
    return Index::Make(1, 1, {"i", std::move(parts)}, Index::State::kReady).error().id();
  };
  EXPECT_EQ(id({}), "index.invalid");
  EXPECT_EQ(id(std::vector<IndexPart>(kMaxIndexParts + 1, {.path = "a"})), "index.invalid");
  EXPECT_EQ(id({{.path = "a", .each_element = true}, {.path = "b", .each_element = true}}),
            "index.invalid");
  EXPECT_EQ(id({{.path = ""}}), "index.invalid");
  EXPECT_EQ(id({{.path = "a["}}), "path.invalid");
  const Index index = Make({{.path = "a", .each_element = true}});
  EXPECT_EQ(index.Entries("k", Text(R"({"a":[")" + std::string(kMaxIndexEntryBytes, 'x') + "\"]}"))
                .error()
                .id(),
            "index.entry_too_large");
  std::string many = R"({"a":[0)";
  for (size_t i = 1; i <= kMaxIndexEntriesPerDocument; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(index.Entries("k", Text(many + "]}")).error().id(), "index.too_many_entries");
}

class IndexTest : public DatabaseTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  IndexTest() {
    options_.durability = Durability::kNone;
    options_.shards = GetParam();
  }
  std::shared_ptr<const Index> Find(const std::string& name) {
    const std::shared_ptr<const Catalog> catalog = database_->catalog();
    for (const auto& index : catalog->Find(keyspace_)->indexes) {
      if (index->definition().name == name) return index;
    }
    return nullptr;
  }
  // "part:key" in index order, for an index over one ascending part.
  std::vector<std::string> Rows(const std::string& name = "i") {
    std::vector<std::string> rows;
    const Status scanned = database_->ScanIndex(
        *Find(name), "", "", [&](std::string_view parts, std::string_view key) {
          const auto part = json::TakeKeyPart(&parts, json::Direction::kAscending);
          rows.push_back(std::to_string(part->AsInt()) + ":" + std::string(key));
          return true;
        });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return rows;
  }
  Status Create(const std::string& name = "i", IndexPart part = {.path = "n"}) {
    return database_->admin().CreateIndex({.bucket = "b"}, {name, {std::move(part)}});
  }
  size_t StoredIndexRows() {
    size_t rows = 0;
    const auto iterator = StoreOf(*database_).NewIterator(storage::Family::kIndex, {});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++rows;
    return rows;
  }
  // What the index should hold, from the documents themselves.
  std::vector<std::string> Expected() {
    std::vector<std::pair<int64_t, std::string>> rows;
    EXPECT_TRUE(database_
                    ->Scan(keyspace_, {},
                           [&](std::string_view key, const DocumentView& document) {
                             const auto value = json::Parse(document.body);
                             if ((*value)["n"].is_int()) {
                               rows.emplace_back((*value)["n"].AsInt(), key);
                             }
                             return true;
                           })
                    .ok());
    std::sort(rows.begin(), rows.end());
    std::vector<std::string> texts;
    for (const auto& [n, key] : rows) texts.push_back(std::to_string(n) + ":" + key);
    return texts;
  }
};

TEST_P(IndexTest, IsKeptByEveryWrite) {
  ASSERT_TRUE(Put("old", R"({"n":5})").status.ok());
  ASSERT_TRUE(Create().ok());
  EXPECT_EQ(Find("i")->state(), Index::State::kReady);
  EXPECT_THAT(Rows(), ElementsAre("5:old"));
  ASSERT_TRUE(Put("a", R"({"n":2})").status.ok());
  ASSERT_TRUE(Put("b", R"({"n":2})").status.ok());
  ASSERT_TRUE(Put("c", R"({"m":2})").status.ok());
  EXPECT_THAT(Rows(), ElementsAre("2:a", "2:b", "5:old"));
  ASSERT_TRUE(Put("a", R"({"n":9})").status.ok());
  ASSERT_TRUE(Delete("b").status.ok());
  ASSERT_TRUE(Put("old", R"({})").status.ok());
  EXPECT_THAT(Rows(), ElementsAre("9:a"));
  Reopen();
  EXPECT_THAT(Rows(), ElementsAre("9:a"));
  ASSERT_TRUE(database_->admin().FlushCollection({.bucket = "b"}).ok());
  EXPECT_THAT(Rows(), IsEmpty());
  ASSERT_TRUE(Put("a", R"({"n":1})").status.ok());
  EXPECT_THAT(Rows(), ElementsAre("1:a"));
  ASSERT_TRUE(database_->admin().DropIndex({.bucket = "b"}, "i").ok());
  EXPECT_EQ(StoredIndexRows(), 0u);
  EXPECT_EQ(database_->admin().DropIndex({.bucket = "b"}, "i").id(), "index.not_found");
}

TEST_P(IndexTest, LeavesOutExpiredDocuments) {
  ASSERT_TRUE(Create().ok());
  const uint64_t soon = clock_.WallMs() + 10;
  ASSERT_TRUE(Apply(PutWrite(keyspace_, "a", Json(R"({"n":1})", soon))).status.ok());
  ASSERT_TRUE(Put("b", R"({"n":2})").status.ok());
  EXPECT_THAT(Rows(), ElementsAre("1:a", "2:b"));
  clock_.AdvanceMs(10);
  EXPECT_THAT(Rows(), ElementsAre("2:b"));
  EXPECT_EQ(StoredIndexRows(), 2u);
  ASSERT_EQ(*database_->operations().ExpireNow(), 1u);
  EXPECT_EQ(StoredIndexRows(), 1u);
  ASSERT_TRUE(Apply(TouchWrite(keyspace_, "b", clock_.WallMs() + 5)).status.ok());
  clock_.AdvanceMs(5);
  EXPECT_THAT(Rows(), IsEmpty()) << "touching changes the row's expiry";
}

TEST_P(IndexTest, CreatedWhileWritersRun) {
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(Put(fmt::format("k{}", i), fmt::format(R"({{"n":{}}})", i % 7)).status.ok());
  }
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (uint64_t seed = 0; seed < 2; ++seed) {
    writers.emplace_back([&, seed] {
      Random random(seed);
      while (!stop) {
        const std::string key = fmt::format("k{}", random.Below(2500));
        const std::string body = fmt::format(R"({{"n":{}}})", random.Below(50));
        ASSERT_TRUE((random.OneIn(4) ? Delete(key) : Put(key, body)).status.ok());
      }
    });
  }
  EXPECT_TRUE(Create().ok());
  stop = true;
  for (std::thread& writer : writers) writer.join();
  const std::vector<std::string> rows = Rows();
  EXPECT_EQ(rows, Expected());
  EXPECT_EQ(StoredIndexRows(), rows.size());
}

TEST_P(IndexTest, DroppedWhileItIsBuilt) {
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(Put(fmt::format("k{}", i), fmt::format(R"({{"n":{}}})", i)).status.ok());
  }
  Status created;
  std::thread creator([&] { created = Create(); });
  AwaitCommitted(*database_, [&] { return Find("i") != nullptr; });
  EXPECT_TRUE(database_->admin().DropIndex({.bucket = "b"}, "i").ok());
  creator.join();
  EXPECT_TRUE(created.ok() || created.id() == "index.not_found") << created.ToString();
  EXPECT_EQ(Find("i"), nullptr);
  EXPECT_EQ(StoredIndexRows(), 0u);
}

TEST_P(IndexTest, AnInterruptedBuildGoesOnAfterTheRestart) {
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(Put(fmt::format("k{}", i), fmt::format(R"({{"n":{}}})", i % 100)).status.ok());
  }
  std::thread creator([&] { (void)Create(); });
  AwaitCommitted(*database_, [&] { return Find("i") != nullptr; });
  // As a crash would: a copy of the files as they are now.
  ASSERT_TRUE(database_->operations().Backup(directory_ / "copy").ok());
  creator.join();
  database_.reset();
  auto opened = Database::Open(directory_ / "copy", options_, clock_);
  ASSERT_TRUE(opened) << opened.error().ToString();
  database_ = std::move(*opened);
  AwaitCommitted(*database_, [&] { return Find("i")->state() == Index::State::kReady; });
  EXPECT_EQ(Rows(), Expected());
}

TEST_P(IndexTest, ADocumentThatCannotBeIndexedEndsTheBuild) {
  const std::string large = R"({"n":")" + std::string(kMaxIndexEntryBytes, 'x') + "\"}";
  ASSERT_TRUE(Put("large", large).status.ok());
  EXPECT_EQ(Create().id(), "index.entry_too_large");
  EXPECT_EQ(Find("i"), nullptr);
  EXPECT_EQ(StoredIndexRows(), 0u);
  ASSERT_TRUE(Delete("large").status.ok());
  ASSERT_TRUE(Create().ok());
  EXPECT_EQ(Put("large", large).status.id(), "index.entry_too_large");
  EXPECT_EQ(Get("large"), "-");
  EXPECT_EQ(Create().id(), "index.exists");
  EXPECT_EQ(database_->admin().CreateIndex({.bucket = "b"}, {"bad name", {{.path = "n"}}}).id(),
            "keyspace.invalid_name");
}

INSTANTIATE_TEST_SUITE_P(Shards, IndexTest, ::testing::Values(1, 3));

}  // namespace
}  // namespace sluice::db
