#include "cli/key_template.h"

#include <string>

#include <gtest/gtest.h>

#include "json/parse.h"

namespace sluice::cli {
namespace {

std::string Make(std::string_view text, std::string_view document) {
  auto made = KeyTemplate::Parse(text);
  if (!made) return made.error().id() + ": " + made.error().message();
  const auto key = made->Make(json::Parse(document).value());
  return key ? *key : key.error().id() + ": " + key.error().message();
}

TEST(KeyTemplate, FieldsAndText) {
  EXPECT_EQ(Make("user::%id%", R"({"id":17})"), "user::17");
  EXPECT_EQ(Make("%id%", R"({"id":"a b"})"), "a b");
  EXPECT_EQ(Make("%a.b.c%-%x%", R"({"a":{"b":{"c":true}},"x":1.50})"), "true-1.50");
  EXPECT_EQ(Make("%id%", R"({"id":9223372036854775807})"), "9223372036854775807");
  EXPECT_EQ(Make("100%%##%id%", R"({"id":1})"), "100%#1");
  EXPECT_EQ(Make("fixed", "{}"), "fixed");
}

TEST(KeyTemplate, Counters) {
  auto made = KeyTemplate::Parse("n#MONO_INCR#/#MONO_INCR[100]#").value();
  EXPECT_EQ(made.Make(json::Value::EmptyObject()).value(), "n1/100");
  EXPECT_EQ(made.Make(json::Value::EmptyObject()).value(), "n2/101");
}

TEST(KeyTemplate, Uuids) {
  auto made = KeyTemplate::Parse("u-#UUID#").value();
  const std::string first = made.Make(json::Value()).value();
  EXPECT_EQ(first.size(), 38u);
  EXPECT_NE(first, made.Make(json::Value()).value());
}

TEST(KeyTemplate, ProblemsOfTheDocument) {
  EXPECT_EQ(Make("%id%", R"({"di":1})"),
            "import.no_key: expected a string, number or boolean in field 'id' for the key, found "
            "missing");
  EXPECT_EQ(Make("%a.b%", R"({"a":{"b":[1]}})"),
            "import.no_key: expected a string, number or boolean in field 'a.b' for the key, found "
            "array");
}

TEST(KeyTemplate, ProblemsOfTheTemplate) {
  EXPECT_EQ(Make("", "{}"), "import.bad_key_template: key template '': it is empty");
  EXPECT_EQ(Make("a%b", "{}"),
            "import.bad_key_template: key template 'a%b': the '%' at position 2 has no partner; "
            "write '%%' for the character itself");
  EXPECT_EQ(Make("%a..b%", "{}"),
            "import.bad_key_template: key template '%a..b%': '%a..b%' has an empty name");
  EXPECT_EQ(
      Make("#GUID#", "{}"),
      "import.bad_key_template: key template '#GUID#': '#GUID#' is not a generator; there are "
      "#UUID#, #MONO_INCR# and #MONO_INCR[100]#");
  EXPECT_EQ(KeyTemplate::Parse("#MONO_INCR[x]#").error().id(), "import.bad_key_template");
}

}  // namespace
}  // namespace sluice::cli
