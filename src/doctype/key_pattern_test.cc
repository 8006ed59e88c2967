#include "doctype/key_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctype/revision_key.h"
#include "json/parse.h"

namespace sluice::doctype {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

KeyPattern Pattern(std::string_view text) {
  auto pattern = KeyPattern::Parse(text);
  EXPECT_TRUE(pattern) << pattern.error().ToString();
  return *pattern;
}

std::string ErrorOf(std::string_view text) {
  const auto pattern = KeyPattern::Parse(text);
  return pattern ? "no error" : pattern.error().ToString();
}

TEST(KeyPattern, MatchesAndExtracts) {
  const KeyPattern user = Pattern("user:{userId}");
  EXPECT_TRUE(user.Matches("user:123"));
  EXPECT_TRUE(user.Matches("user:joe@acme.com"));
  EXPECT_FALSE(user.Matches("user:"));
  EXPECT_FALSE(user.Matches("users:1"));
  EXPECT_FALSE(user.Matches("user:123:v:1"));
  EXPECT_EQ(user.prefix(), "user:");
  EXPECT_EQ(user.delimiters(), ":");

  const KeyPattern line = Pattern("order::{customer}::{number}-x");
  const std::string key = "order::c1::77-x";
  EXPECT_THAT(*line.Extract(key), ElementsAre(Pair("customer", "c1"), Pair("number", "77")));
  EXPECT_FALSE(line.Extract("order::c1::77"));
  EXPECT_FALSE(line.Extract("order::c1:77-x"));
}

TEST(KeyPattern, BracesThemselves) {
  const KeyPattern braces = Pattern("a{{b}}:{id}");
  EXPECT_TRUE(braces.Matches("a{b}:7"));
  EXPECT_TRUE(Pattern("fixed").Matches("fixed"));
  EXPECT_FALSE(Pattern("fixed").Matches("fixed2"));
}

TEST(KeyPattern, Builds) {
  const KeyPattern pattern = Pattern("order:{customer.id}:{number}");
  const auto built = pattern.Build(*json::Parse(R"({"customer":{"id":"c1"},"number":77})"));
  EXPECT_EQ(*built, "order:c1:77");
  const auto missing = pattern.Build(*json::Parse(R"({"number":77})"));
  EXPECT_EQ(missing.error().id(), "type.no_key");
  const auto delimiter = pattern.Build(*json::Parse(R"({"customer":{"id":"a:b"},"number":77})"));
  EXPECT_THAT(delimiter.error().message(), HasSubstr("'a:b'"));
}

TEST(KeyPattern, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("1 to 512"));
  EXPECT_THAT(ErrorOf("user:{id"), HasSubstr("character 6: '{' has no '}'"));
  EXPECT_THAT(ErrorOf("user:id}"), HasSubstr("character 8"));
  EXPECT_THAT(ErrorOf("user:{}"), HasSubstr("expected a property's name"));
  EXPECT_THAT(ErrorOf("{a}{b}"), HasSubstr("need a delimiter"));
  EXPECT_THAT(ErrorOf("{a}:{a}"), HasSubstr("twice"));
  EXPECT_THAT(ErrorOf("{a}x"), HasSubstr("a delimiter must"));
}

TEST(RevisionKey, MakesAndReads) {
  const RevisionKey key = *RevisionKey::Parse("{key}:v:{version}");
  EXPECT_EQ(key.Make("user:123", 7), "user:123:v:7");
  EXPECT_EQ(key.Prefix("user:123"), "user:123:v:");
  const std::string text = "user:123:v:42";
  const auto parts = key.Read(text);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->key, "user:123");
  EXPECT_EQ(parts->version, 42u);
  for (const char* other : {"user:123", "user:123:v:", "user:123:v:x", "user:123:v:07", ":v:1",
                            "user:123:v:99999999999999999999999", "7", ""}) {
    EXPECT_FALSE(key.Read(other)) << other;
  }
  const RevisionKey around = *RevisionKey::Parse("old/{key}/{version}.json");
  EXPECT_EQ(around.Make("a/1", 2), "old/a/1/2.json");
  const std::string made = around.Make("a/1", 2);
  EXPECT_EQ(around.Read(made)->key, "a/1");
}

TEST(RevisionKey, SaysWhatIsWrong) {
  for (const char* text : {"{version}:{key}", "{key}{version}", "{key}:v", "{key}:{key}:{version}",
                           "{key}:1{version}", "{key}:{version}0"}) {
    const auto key = RevisionKey::Parse(text);
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().id(), "type.bad_pattern");
  }
}

}  // namespace
}  // namespace sluice::doctype
