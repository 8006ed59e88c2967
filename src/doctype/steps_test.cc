#include "doctype/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctype/casts.h"
#include "doctype/dates.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using Kind = MigrationStep::Kind;
using testing::HasSubstr;

std::string Apply(Kind kind, std::string_view arguments, std::string_view document) {
  const MigrationStep step{kind, *json::Parse(arguments), {}};
  const Status checked = CheckStep(step);
  if (!checked.ok()) return checked.ToString();
  json::Value value = *json::Parse(document);
  const Status applied = ApplyStep(step, &value);
  return applied.ok() ? json::ToText(value) : applied.ToString();
}

TEST(Steps, Rename) {
  EXPECT_EQ(Apply(Kind::kRename, R"({"b":"x","c.d":"e","l[].p":"q"})",
                  R"({"a":1,"b":2.50,"c":{"d":3,"f":4},"l":[{"p":1},{"r":2},3]})"),
            R"({"a":1,"x":2.50,"c":{"e":3,"f":4},"l":[{"q":1},{"r":2},3]})");
  EXPECT_THAT(Apply(Kind::kRename, R"({"a":"b"})", R"({"a":1,"b":2})"),
              HasSubstr("migration.mismatch: 'a' can't become 'b'"));
}

TEST(Steps, Move) {
  EXPECT_EQ(Apply(Kind::kMove, R"({"from":"zip","to":"address.zip"})", R"({"zip":"1","a":2})"),
            R"({"a":2,"address":{"zip":"1"}})");
  EXPECT_EQ(Apply(Kind::kMove, R"({"from":"zip","to":"address.zip"})", R"({"a":2})"), R"({"a":2})");
  EXPECT_THAT(Apply(Kind::kMove, R"({"from":"zip","to":"a.zip"})", R"({"zip":"1","a":2})"),
              HasSubstr("expected an object around it, found number"));
}

TEST(Steps, SplitAndJoin) {
  constexpr std::string_view kSplit = R"({"from":"name","to":["firstName","lastName"]})";
  EXPECT_EQ(Apply(Kind::kSplit, kSplit, R"({"a":1,"name":"Joe Smith","b":2})"),
            R"({"a":1,"firstName":"Joe","lastName":"Smith","b":2})");
  EXPECT_EQ(Apply(Kind::kSplit, kSplit, R"({"name":"Ludwig van Beethoven"})"),
            R"({"firstName":"Ludwig","lastName":"van Beethoven"})");
  EXPECT_EQ(Apply(Kind::kSplit, kSplit, R"({"name":"Prince"})"), R"({"firstName":"Prince"})");
  EXPECT_THAT(Apply(Kind::kSplit, kSplit, R"({"name":7})"), HasSubstr("expected a string"));
  EXPECT_EQ(Apply(Kind::kJoin, R"({"from":["firstName","lastName"],"to":"name","by":", "})",
                  R"({"a":1,"firstName":"Joe","lastName":"Smith","b":2})"),
            R"({"a":1,"name":"Joe, Smith","b":2})");
}

TEST(Steps, WrapAndUnwrap) {
  constexpr std::string_view kWrap =
      R"({"path":"phone","to":"phones","as":"number","with":{"type":"mobile"}})";
  EXPECT_EQ(Apply(Kind::kWrap, kWrap, R"({"phone":"123","x":1})"),
            R"({"phones":[{"type":"mobile","number":"123"}],"x":1})");
  EXPECT_EQ(Apply(Kind::kWrap, R"({"path":"tag"})", R"({"tag":"a"})"), R"({"tag":["a"]})");
  EXPECT_EQ(Apply(Kind::kUnwrap, R"({"path":"phones","to":"phone","as":"number"})",
                  R"({"phones":[{"type":"mobile","number":"123"}],"x":1})"),
            R"({"phone":"123","x":1})");
  EXPECT_EQ(Apply(Kind::kUnwrap, R"({"path":"phones"})", R"({"phones":[],"x":1})"), R"({"x":1})");
}

TEST(Steps, DefaultDropAndCast) {
  EXPECT_EQ(Apply(Kind::kDefault, R"({"a":1,"b.c":[],"l[].n":0})", R"({"a":2,"l":[{},{"n":5}]})"),
            R"({"a":2,"l":[{"n":0},{"n":5}],"b":{"c":[]}})");
  EXPECT_EQ(Apply(Kind::kDrop, R"(["a","l[].n","gone"])", R"({"a":2,"b":1,"l":[{"n":5}]})"),
            R"({"b":1,"l":[{}]})");
  EXPECT_EQ(Apply(Kind::kCast, R"({"a":"number","b":"string"})", R"({"a":"1.50","b":2,"c":3})"),
            R"({"a":1.50,"b":"2","c":3})");
  EXPECT_EQ(Apply(Kind::kCast, R"({"a":"number"})", R"({"a":"x"})"),
            R"(migration.mismatch: cast of 'a': "x" can't become 'number')");
}

TEST(Steps, ArgumentsAreChecked) {
  EXPECT_THAT(Apply(Kind::kWrap, R"({"path":"a","with":{}})", "{}"),
              HasSubstr("'with' needs 'as'"));
  EXPECT_THAT(Apply(Kind::kMove, R"({"from":"a[].b","to":"c"})", "{}"), HasSubstr("one field"));
  EXPECT_THAT(Apply(Kind::kMove, R"({"from":"a","to":"c","by":1})", "{}"),
              HasSubstr("no argument"));
  EXPECT_THAT(Apply(Kind::kDrop, "[]", "{}"), HasSubstr("expected the paths"));
  EXPECT_THAT(Apply(Kind::kDrop, "7", "{}"), HasSubstr("expected the path of a field"));
}

std::string CastText(std::string_view value, std::string_view how) {
  const auto made = Cast(*json::Parse(value), how);
  return made ? json::ToText(*made) : made.error().id();
}

TEST(Casts, OfTheReference) {
  EXPECT_EQ(CastText(R"("2018-12-14T03:45:24.478Z")", "epoch_ms"), "1544759124478");
  EXPECT_EQ(CastText(R"("2018-12-14T04:45:24.478+01:00")", "epoch_s"), "1544759124");
  EXPECT_EQ(CastText(R"("2018-12-14T03:45:24.478Z")", "epoch_days"), "17879");
  EXPECT_EQ(CastText(R"("1969-12-31T23:59:59.999Z")", "epoch_s"), "-1");
  EXPECT_EQ(CastText(R"("Dec 14, 2018")", "date"), R"("2018-12-14")");
  EXPECT_EQ(CastText("1544759124478", "seconds"), "1544759124");
  EXPECT_EQ(CastText(R"("3f2504e0-4f89-11d3-9a0c-0305e82c3301")", "guid"),
            R"("3f2504e04f8911d39a0c0305e82c3301")");
  EXPECT_EQ(CastText("2.0", "integer"), "2");
  EXPECT_EQ(CastText("2.5", "integer"), "migration.mismatch");
  EXPECT_EQ(CastText(R"("true")", "boolean"), "true");
  EXPECT_EQ(CastText("[]", "string"), "migration.mismatch");
}

TEST(Dates, Formats) {
  EXPECT_TRUE(ParseDate("2024-02-29"));
  EXPECT_FALSE(ParseDate("2023-02-29"));
  EXPECT_FALSE(ParseDate("2023-2-09"));
  EXPECT_EQ(ParseDateTime("1990-12-31T23:59:60Z")->ms, 662'688'000'000);
  EXPECT_FALSE(ParseDateTime("1990-12-31T22:59:60Z"));
  EXPECT_TRUE(ParseDateTime("1990-12-31T15:59:60-08:00"));
  EXPECT_FALSE(ParseDateTime("1990-12-31T15:59:59"));
  EXPECT_FALSE(ParseDateTime("1990-12-31T24:00:00Z"));
  EXPECT_FALSE(ParseDateTime("1990-12-31T15:59:59.Z"));
  EXPECT_EQ(ParseDateTime("2018-12-14T03:45:24.478900Z")->fraction_digits, 6);
  EXPECT_TRUE(ParseMonthDate("December 4, 2018"));
  EXPECT_FALSE(ParseMonthDate("Dec 32, 2018"));
  EXPECT_FALSE(ParseMonthDate("Foo 1, 2018"));
  EXPECT_EQ(FormatDate(*ParseMonthDate("Jan 1, 1970")), "1970-01-01");
}

}  // namespace
}  // namespace sluice::doctype
