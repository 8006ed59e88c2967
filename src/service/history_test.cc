// The earlier versions of documents, without a protocol.
#include "service/history.h"

#include <string>

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "doctype/test_types.h"
#include "doctype/type_json.h"
#include "doctype_db/policy_compiler.h"
#include "json/print.h"

namespace sluice::service {
namespace {

constexpr std::string_view kType = R"(type: note
keyspace: b
match: { key: "note:{id}" }
properties: { version: _ver }
revisions: { keep: 2 }
)";

class HistoryTest : public db::DatabaseTest {
 protected:
  HistoryTest() { options_.policy_compiler = std::make_shared<doctype_db::PolicyCompiler>(clock_); }
  void SetUp() override {
    DatabaseTest::SetUp();
    const auto type = doctype::TypeOf(kType);
    ASSERT_TRUE(database_->admin()
                    .PutType({.bucket = "b"}, {type->name, json::ToText(doctype::ToJson(*type))})
                    .ok());
    for (const char* text : {"one", "two", "three", "four"}) {
      ASSERT_TRUE(Put("note:1", std::string(R"({"text":")") + text + R"("})").status.ok());
    }
  }
  Target Note() const { return {keyspace_, "note:1"}; }
  std::string TextOf(std::string_view version) {
    const auto document = ReadVersion(*database_, Note(), version);
    if (!document) return std::string(document.error().id());
    const std::string& body = document->body;
    const size_t begin = body.find(R"("text":")") + 8;
    return body.substr(begin, body.find('"', begin) - begin);
  }
};

TEST_F(HistoryTest, ListsTheKeptOnesOldestFirst) {
  const auto revisions = ListRevisions(*database_, Note());
  ASSERT_TRUE(revisions) << revisions.error().ToString();
  ASSERT_EQ(revisions->size(), 2u);
  EXPECT_EQ((*revisions)[0].version, 2u);
  EXPECT_NE((*revisions)[0].document.body.find("two"), std::string::npos);
  EXPECT_EQ((*revisions)[1].version, 3u);
  EXPECT_TRUE((*revisions)[1].key.has_value());
  EXPECT_EQ((*revisions)[1].replaced_ms, clock_.WallMs());
}

TEST_F(HistoryTest, ReadsAVersionByItsNumberOrAsCurrent) {
  EXPECT_EQ(TextOf("2"), "two");
  EXPECT_EQ(TextOf(kCurrentVersion), "four");
  for (const char* none : {"1", "0", "-1", "x", "2x", "", "99"}) {
    EXPECT_EQ(TextOf(none), "revision.not_found") << none;
  }
  EXPECT_EQ(ReadVersion(*database_, {keyspace_, "note:2"}, kCurrentVersion).error().id(),
            "document.not_found");
}

TEST_F(HistoryTest, ComparesVersions) {
  const auto changes = CompareVersions(*database_, Note(), "3", kCurrentVersion);
  ASSERT_TRUE(changes);
  EXPECT_NE(doctype::ToText(*changes).find("three"), std::string::npos);
  EXPECT_NE(doctype::ToText(*changes).find("four"), std::string::npos);
  EXPECT_TRUE(CompareVersions(*database_, Note(), "2", "2")->empty());
  EXPECT_EQ(CompareVersions(*database_, Note(), "1", "2").error().id(), "revision.not_found");
}

TEST_F(HistoryTest, ARestoredVersionIsANewOne) {
  auto write = RestoringWrite(*database_, Note(), "2", {});
  ASSERT_TRUE(write);
  ASSERT_TRUE(Apply(std::move(*write)).status.ok());
  EXPECT_EQ(TextOf(kCurrentVersion), "two");
  EXPECT_EQ(TextOf("4"), "four");
  EXPECT_EQ(RestoringWrite(*database_, Note(), "9", {}).error().id(), "revision.not_found");
}

}  // namespace
}  // namespace sluice::service
