// Kinds of indexes besides plain paths: SQL++ texts (with a compiler that knows three of them),
// conditions, primary and deferred ones, ones that include missing values or repeat elements.
#include <utility>

#include <gmock/gmock.h>

#include "db/database_impl.h"
#include "db/index_compiler.h"
#include "db/reader.h"
#include "db/test_database.h"
#include "db/transaction.h"
#include "json/key_encoding.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::db {
namespace {

using ::testing::ElementsAre;

// Knows the parts `2*n` and `ALL ARRAY v FOR v IN a END`, and the condition `n > 10`.
class TestProgram final : public IndexProgram {
 public:
  explicit TestProgram(IndexDefinition definition) : definition_(std::move(definition)) {}

  Result<std::vector<std::vector<json::Value>>> Rows(std::string_view,
                                                     const DocumentView& document) const override {
    ASSIGN_OR_RETURN(const json::Value body, json::Parse(document.body));
    std::vector<std::vector<json::Value>> rows;
    const json::Value n = body["n"];
    if (!definition_.where.empty() && (!n.is_int() || n.AsInt() <= 10)) return rows;
    if (definition_.parts[0].each_element) {
      for (const json::Value& element : body["a"].items()) rows.push_back({element});
    } else if (n.is_int()) {
      rows.push_back({json::Value(2 * n.AsInt())});
    }
    return rows;
  }

 private:
  const IndexDefinition definition_;
};

class TestCompiler final : public IndexCompiler {
 public:
  Result<std::shared_ptr<const IndexProgram>> Compile(
      const IndexDefinition& definition) const override {
    const std::string& text = definition.parts[0].expression;
    if (text != "2*n" && text != "ALL ARRAY v FOR v IN a END") {
      return Fail(Code::kInvalidArgument, "index.invalid", "can't read '{}'", text);
    }
    return std::make_shared<const TestProgram>(definition);
  }
};

class IndexKindsTest : public DatabaseTest {
 protected:
  IndexKindsTest() {
    options_.durability = Durability::kNone;
    options_.index_compiler = std::make_shared<const TestCompiler>();
  }

  Status Create(IndexDefinition definition, IndexBuild build = IndexBuild::kNow) {
    return database_->admin().CreateIndex({.bucket = "b"}, std::move(definition), build);
  }
  std::shared_ptr<const Index> Find(const std::string& name) {
    for (const auto& index : database_->catalog()->Find(keyspace_)->indexes) {
      if (index->definition().name == name) return index;
    }
    return nullptr;
  }
  std::vector<std::string> Rows(Reader& reader, const std::string& name) {
    std::vector<std::string> rows;
    const auto cursor = reader.ScanIndex(*Find(name), {});
    while (cursor->Next()) {
      std::string_view parts = cursor->parts();
      const json::Value value = *json::TakeKeyPart(&parts, json::Direction::kAscending);
      rows.push_back((value.is_missing() ? "missing" : json::ToText(value)) + ":" +
                     std::string(cursor->key()));
    }
    if (!cursor->status().ok()) rows.push_back(cursor->status().id());
    return rows;
  }
  std::vector<std::string> Rows(const std::string& name) {
    return Rows(*NewSnapshotReader(*database_), name);
  }
  size_t StoredRows() {
    size_t rows = 0;
    const auto iterator = StoreOf(*database_).NewIterator(storage::Family::kIndex, {});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++rows;
    return rows;
  }

  const IndexDefinition twice_{.name = "twice", .parts = {{.expression = "2*n"}}};
  const IndexDefinition large_{
      .name = "large", .parts = {{.expression = "2*n"}}, .where = "n > 10"};
};

TEST_F(IndexKindsTest, ExpressionsAndConditions) {
  ASSERT_TRUE(Put("a", R"({"n":7})").status.ok());
  ASSERT_TRUE(Put("b", R"({"n":20})").status.ok());
  ASSERT_TRUE(Create(twice_).ok());
  ASSERT_TRUE(Create(large_).ok());
  ASSERT_TRUE(Put("c", R"({"n":30})").status.ok());
  EXPECT_THAT(Rows("twice"), ElementsAre("14:a", "40:b", "60:c"));
  EXPECT_THAT(Rows("large"), ElementsAre("40:b", "60:c"));
  ASSERT_TRUE(Put("b", R"({"n":1})").status.ok());
  ASSERT_TRUE(Delete("a").status.ok());
  EXPECT_THAT(Rows("twice"), ElementsAre("2:b", "60:c"));
  EXPECT_THAT(Rows("large"), ElementsAre("60:c"));
  Reopen();
  EXPECT_EQ(Find("large")->definition(), large_);
  ASSERT_TRUE(Put("d", R"({"n":11})").status.ok());
  EXPECT_THAT(Rows("large"), ElementsAre("22:d", "60:c"));
  EXPECT_EQ(Create({.name = "x", .parts = {{.expression = "?"}}}).id(), "index.invalid");
}

TEST_F(IndexKindsTest, WithoutACompilerThereArePathsOnly) {
  options_.index_compiler = nullptr;
  Reopen();
  EXPECT_EQ(Create(twice_).id(), "index.unsupported");
  EXPECT_EQ(Create({.name = "x", .parts = {{.path = "n"}}, .where = "n > 10"}).id(),
            "index.unsupported");
  EXPECT_TRUE(Create({.name = "x", .parts = {{.path = "n"}}}).ok());
}

// A server that can't read a definition any more starts, and says so; one that can reads it anew.
TEST_F(IndexKindsTest, ADefinitionThatDoesNotCompileIsInvalid) {
  ASSERT_TRUE(Put("a", R"({"n":1})").status.ok());
  ASSERT_TRUE(Create(twice_).ok());
  const auto compiler = std::exchange(options_.index_compiler, nullptr);
  Reopen();
  EXPECT_EQ(Find("twice")->state(), Index::State::kInvalid);
  EXPECT_EQ(Find("twice")->problem().id(), "index.unsupported");
  EXPECT_THAT(Rows("twice"), ElementsAre("index.unusable"));
  EXPECT_EQ(database_->admin().BuildIndex({.bucket = "b"}, {"twice"}).id(), "index.unusable");
  EXPECT_EQ(StoredRows(), 0u);
  ASSERT_TRUE(Put("a", R"({"n":2})").status.ok());
  ASSERT_TRUE(Put("b", R"({"n":3})").status.ok());
  options_.index_compiler = compiler;
  Reopen();
  AwaitCommitted(*database_, [&] { return Find("twice")->state() == Index::State::kReady; });
  EXPECT_THAT(Rows("twice"), ElementsAre("4:a", "6:b"));
  options_.index_compiler = nullptr;
  Reopen();
  EXPECT_TRUE(database_->admin().DropIndex({.bucket = "b"}, "twice").ok());
  EXPECT_EQ(Find("twice"), nullptr);
}

TEST_F(IndexKindsTest, MissingValues) {
  ASSERT_TRUE(Create({.name = "i", .parts = {{.path = "n", .include_missing = true}}}).ok());
  ASSERT_TRUE(Create({.name = "j", .parts = {{.path = "n"}}}).ok());
  ASSERT_TRUE(Put("a", R"({"n":null})").status.ok());
  ASSERT_TRUE(Put("b", "{}").status.ok());
  EXPECT_THAT(Rows("i"), ElementsAre("missing:b", "null:a"));
  EXPECT_THAT(Rows("j"), ElementsAre("null:a"));
  EXPECT_EQ(
      Create({.name = "k", .parts = {{.path = "n"}, {.path = "m", .include_missing = true}}}).id(),
      "index.invalid");
}

TEST_F(IndexKindsTest, ElementsOnceOrEach) {
  ASSERT_TRUE(Put("old", R"({"a":[3,3]})").status.ok());
  ASSERT_TRUE(Create({.name = "once", .parts = {{.path = "a", .each_element = true}}}).ok());
  ASSERT_TRUE(
      Create({.name = "each", .parts = {{.path = "a", .each_element = true, .distinct = false}}})
          .ok());
  ASSERT_TRUE(Create({.name = "text",
                      .parts = {{.each_element = true,
                                 .expression = "ALL ARRAY v FOR v IN a END",
                                 .distinct = false}}})
                  .ok());
  ASSERT_TRUE(Put("k", R"({"a":[1,2,1]})").status.ok());
  EXPECT_THAT(Rows("once"), ElementsAre("1:k", "2:k", "3:old"));
  EXPECT_THAT(Rows("each"), ElementsAre("1:k", "1:k", "2:k", "3:old", "3:old"));
  EXPECT_THAT(Rows("text"), ElementsAre("1:k", "1:k", "2:k", "3:old", "3:old"));
  Transaction transaction(*database_);
  ASSERT_TRUE(transaction.Put(keyspace_, "k", Json(R"({"a":[4,4]})")));
  EXPECT_THAT(Rows(*NewTransactionReader(transaction), "each"),
              ElementsAre("3:old", "3:old", "4:k", "4:k"));
  ASSERT_TRUE(transaction.Apply().status.ok());
  EXPECT_THAT(Rows("each"), ElementsAre("3:old", "3:old", "4:k", "4:k"));
  ASSERT_TRUE(Delete("k").status.ok());
  ASSERT_TRUE(Delete("old").status.ok());
  EXPECT_EQ(StoredRows(), 0u);
}

TEST_F(IndexKindsTest, APrimaryIndexHasNoRows) {
  ASSERT_TRUE(Create({.name = std::string(kPrimaryIndexName), .primary = true}).ok());
  ASSERT_TRUE(Create({.name = "late", .primary = true}, IndexBuild::kDeferred).ok());
  ASSERT_TRUE(Put("a", R"({"n":1})").status.ok());
  EXPECT_EQ(Find("#primary")->state(), Index::State::kReady);
  EXPECT_EQ(StoredRows(), 0u);
  EXPECT_THAT(Rows("#primary"), ElementsAre("index.unsupported"));
  EXPECT_EQ(database_->estimates().Rows(*Find("#primary"), "", ""), 1u);
  EXPECT_EQ(Find("late")->state(), Index::State::kDeferred);
  ASSERT_TRUE(database_->admin().BuildIndex({.bucket = "b"}, {"late"}).ok());
  Reopen();
  EXPECT_EQ(Find("late")->state(), Index::State::kReady);
  EXPECT_TRUE(Find("late")->definition().primary);
  EXPECT_EQ(Create({.name = "x", .parts = {{.path = "n"}}, .primary = true}).id(), "index.invalid");
  EXPECT_EQ(Create({.name = "#primary", .parts = {{.path = "n"}}}).id(), "keyspace.invalid_name");
}

TEST_F(IndexKindsTest, ADeferredIndexWaitsToBeBuilt) {
  ASSERT_TRUE(Put("a", R"({"n":1})").status.ok());
  ASSERT_TRUE(Create(twice_, IndexBuild::kDeferred).ok());
  ASSERT_TRUE(Put("b", R"({"n":2})").status.ok());
  EXPECT_THAT(Rows("twice"), ElementsAre("index.building"));
  EXPECT_EQ(StoredRows(), 0u);
  Reopen();
  EXPECT_EQ(Find("twice")->state(), Index::State::kDeferred);
  const auto before = NewSnapshotReader(*database_);
  EXPECT_EQ(database_->admin().BuildIndex({.bucket = "b"}, {"twice", "none"}).id(),
            "index.not_found");
  EXPECT_EQ(Find("twice")->state(), Index::State::kDeferred);
  ASSERT_TRUE(database_->admin().BuildIndex({.bucket = "b"}, {"twice"}).ok());
  EXPECT_THAT(Rows("twice"), ElementsAre("2:a", "4:b"));
  EXPECT_THAT(Rows(*before, "twice"), ElementsAre("index.building"));
  EXPECT_TRUE(database_->admin().BuildIndex({.bucket = "b"}, {"twice"}).ok());
}

TEST_F(IndexKindsTest, OneThatCantBeBuiltIsDeferredAgain) {
  ASSERT_TRUE(Put("a", R"({"n":"x"})").status.ok());
  ASSERT_TRUE(
      Put("b", "{\"n\":\"" + std::string(2 * kMaxIndexEntryBytes, 'x') + "\"}").status.ok());
  ASSERT_TRUE(Create({.name = "i", .parts = {{.path = "n"}}}, IndexBuild::kDeferred).ok());
  EXPECT_EQ(database_->admin().BuildIndex({.bucket = "b"}, {"i"}).id(), "index.entry_too_large");
  EXPECT_EQ(Find("i")->state(), Index::State::kDeferred);
  EXPECT_EQ(StoredRows(), 0u);
  ASSERT_TRUE(Delete("b").status.ok());
  ASSERT_TRUE(database_->admin().BuildIndex({.bucket = "b"}, {"i"}).ok());
  EXPECT_THAT(Rows("i"), ElementsAre(R"("x":a)"));
}

}  // namespace
}  // namespace sluice::db
