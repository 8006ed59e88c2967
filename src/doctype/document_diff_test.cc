#include "doctype/document_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "doctype/fixture.h"
#include "doctype/test_types.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string DiffText(std::string_view before, std::string_view after) {
  return ToText(Diff(*json::Parse(before), *json::Parse(after)));
}

TEST(DocumentDiff, ByPath) {
  EXPECT_EQ(DiffText(R"({"a":1,"b":{"c":[1,2],"d.e":"x"},"f":1.0})",
                     R"({"f":1,"b":{"c":[1,3,4],"g":null},"a":"1"})"),
            "~ a: 1 -> \"1\"\n"
            "~ b.c[1]: 2 -> 3\n"
            "+ b.c[2]: 4\n"
            "- b.`d.e`: \"x\"\n"
            "+ b.g: null\n");
  EXPECT_EQ(DiffText("[]", "{}"), "~ document: [] -> {}\n");
  const auto changes = Diff(*json::Parse(R"({"a":1})"), *json::Parse("{}"));
  EXPECT_EQ(json::ToText(ToJson(changes)), R"([{"path":"a","before":1}])");
}

TEST(DocumentDiff, HasAnEnd) {
  json::Value many = json::Value::EmptyArray();
  for (int i = 0; i < 5000; ++i) many.Append(i);
  EXPECT_EQ(Diff(json::Value::EmptyArray(), many).size(), kMaxChanges);
}

// A cast, a split, a join, a rename and a move lose nothing.
TEST(DocumentDiff, WhatIsKeptInAnotherForm) {
  const auto lost = [](const char* before, const char* after) {
    return LostFields(*json::Parse(before), *json::Parse(after));
  };
  EXPECT_THAT(
      lost(R"({"lat":"42.53","at":"2018-12-14T03:45:24Z"})", R"({"lat":42.53,"at":1544759124})"),
      testing::IsEmpty());
  EXPECT_THAT(lost(R"({"name":"Joe van Smith","phone":"123-456-7890"})",
                   R"({"firstName":"Joe","lastName":"van Smith","phones":[{"n":"1234567890"}]})"),
              testing::IsEmpty());
  EXPECT_THAT(
      lost(R"({"firstName":"Joe","lastName":"Smith","n":"7"})", R"({"name":"Joe Smith","m":7})"),
      testing::IsEmpty());
  EXPECT_THAT(lost(R"({"name":"Joe Smith","x":7})", R"({"firstName":"Joe"})"),
              testing::ElementsAre("name", "x"));
}

TEST(DocumentDiff, LostFields) {
  EXPECT_THAT(LostFields(*json::Parse(R"({"a":1,"n":"Joe","x":null,"gone":[7,"y"],"moved":true})"),
                         *json::Parse(R"({"b":{"c":true},"name":"Joe Smith","a":2,"one":1})")),
              ElementsAre("gone[0]", "gone[1]"));
}

class FixtureTest : public testing::Test {
 protected:
  void SetUp() override {
    Problems problems;
    const auto type = TypeOf(
        "type: user\nkeyspace: app\nmatch: {property: t}\nproperties: {schema: s}\nschema: '2'\n"
        "migrations:\n  - from: '1'\n    to: '2'\n    steps: [{cast: {n: number}}]\n"
        "    back: [{cast: {n: string}}]\n");
    runner_ =
        std::make_unique<MigrationRunner>(Migrations::Compile(type, &problems), kPatient, clock_);
  }
  std::string Run(std::string_view fixture) {
    const Status status = RunFixture(*runner_, *json::Parse(fixture));
    return status.ok() ? "ok" : status.ToString();
  }

  const SystemClock clock_;
  std::unique_ptr<MigrationRunner> runner_;
};

TEST_F(FixtureTest, ComparesWhatAMigrationMakes) {
  EXPECT_EQ(Run(R"({"key":"u","before":{"s":"1","n":"7"},"after":{"n":7.0,"s":"2"}})"), "ok");
  EXPECT_EQ(Run(R"({"key":"u","before":{"s":"2","n":7},"to":"1","after":{"n":"7","s":"1"}})"),
            "ok");
  EXPECT_EQ(Run(R"({"key":"u","before":{"s":"1","n":"x"},"error":"migration.mismatch"})"), "ok");
  EXPECT_EQ(Run(R"({"key":"u","before":{"s":"1","n":"7"},"after":{"n":8,"s":"2","k":1}})"),
            "fixture.different: the document is not as expected (-) but (+):\n"
            "~ n: 8 -> 7\n"
            "- k: 1\n");
  EXPECT_THAT(Run(R"({"key":"u","before":{"s":"1","n":"x"},"after":{}})"),
              HasSubstr("migration.mismatch: document 'u', step '1 -> 2'"));
  EXPECT_THAT(Run(R"({"key":"u","before":{"s":"1"},"error":"migration.threw"})"),
              HasSubstr("expected the error migration.threw, found none"));
}

TEST_F(FixtureTest, SaysWhatIsWrongWithAFixture) {
  EXPECT_THAT(Run("{}"), HasSubstr("expected a key"));
  EXPECT_THAT(Run(R"({"key":"u","before":{}})"), HasSubstr("expected a document 'after'"));
  EXPECT_THAT(Run(R"({"key":"u","before":{},"after":{},"afterwards":1})"),
              HasSubstr("no 'afterwards'"));
  EXPECT_THAT(Run(R"({"key":"u","before":{},"after":{},"to":1})"), HasSubstr("'to' is a version"));
}

}  // namespace
}  // namespace sluice::doctype
