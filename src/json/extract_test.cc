#include "json/extract.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/random_value.h"

namespace sluice::json {
namespace {

Path P(std::string_view text) { return *Path::Parse(text); }

std::string Raw(std::string_view document, std::string_view path) {
  const auto found = FindRaw(document, P(path));
  if (!found) return found.error().id();
  return found->has_value() ? std::string(**found) : "nothing";
}

constexpr std::string_view kDocument =
    R"( {"a": {"b" : [ 1.50, {"c":"x\"]}"} , true ] }, "\u00e9":[], "n" :null} )";

TEST(FindRaw, GivesTheTextAsItStands) {
  EXPECT_EQ(Raw(kDocument, "a.b[0]"), "1.50");
  EXPECT_EQ(Raw(kDocument, "a.b[1]"), R"({"c":"x\"]}"})");
  EXPECT_EQ(Raw(kDocument, "a.b[1].c"), R"("x\"]}")");
  EXPECT_EQ(Raw(kDocument, "a.b[-1]"), "true");
  EXPECT_EQ(Raw(kDocument, "a.b[-3]"), "1.50");
  EXPECT_EQ(Raw(kDocument, "\u00e9"), "[]");
  EXPECT_EQ(Raw(kDocument, "n"), "null");
  EXPECT_EQ(Raw(" 17 ", ""), "17");
  for (const char* path : {"b", "a.c", "a[0]", "a.b.c", "a.b[3]", "a.b[-4]", "n.x", "[0]"}) {
    EXPECT_EQ(Raw(kDocument, path), "nothing") << path;
  }
}

TEST(FindRaw, LastFieldOfANameCounts) {
  EXPECT_EQ(Raw(R"({"a":{"x":1},"a":{"y":2}})", "a.y"), "2");
  EXPECT_EQ(Raw(R"({"a":{"x":1},"a":{"y":2}})", "a.x"), "nothing");
}

TEST(FindRaw, ReportsWhatIsNotJson) {
  for (const char* text : {"", "{", "{\"a\"", "{\"a\":", "{\"b\":1", "{\"a\":1 \"b\"", "{\"a\":[1",
                           "{\"a\\", "{a:1}", "{\"b\" 1}", "{\"b\":1,}"}) {
    EXPECT_EQ(Raw(text, "a"), "json.invalid") << text;
  }
}

TEST(Extractor, TakesAllPathsInOnePass) {
  const Extractor extractor(
      {P("a.b[1].c"), P("a.b[-1]"), P("zzz"), P("a.b[2]"), P("a"), P("n"), P("a.b[-9]"), P("n")});
  const auto raw = extractor.Raw(kDocument);
  ASSERT_TRUE(raw) << raw.error().ToString();
  EXPECT_EQ(*raw, (std::vector<std::string_view>{R"("x\"]}")", "true", "", "true",
                                                 R"({"b" : [ 1.50, {"c":"x\"]}"} , true ] })",
                                                 "null", "", "null"}));
  const auto values = extractor.Values(kDocument);
  EXPECT_EQ((*values)[0].AsString(), "x\"]}");
  EXPECT_TRUE((*values)[2].is_missing());
  EXPECT_TRUE((*values)[5].is_null());
  EXPECT_EQ(extractor.Raw("{\"a\":1").error().id(), "json.invalid");
  EXPECT_EQ(extractor.Raw("{\"a\":1} x").error().id(), "json.invalid");
}

TEST(Extractor, LastFieldOfANameCounts) {
  const Extractor extractor({P("a.x"), P("a.y")});
  EXPECT_EQ(*extractor.Raw(R"({"a":{"x":1},"a":{"y":2}})"),
            (std::vector<std::string_view>{"", "2"}));
}

TEST(Extractor, WhiteSpaceAndEscapesDoNotMatter) {
  const Extractor extractor({P("a"), P("b"), P("c"), P("d"), P("e")});
  const auto values = extractor.Values(
      "{ \"a\" : \"x\\\"\" \n, \"\\u0062\"\t:\t-1.50\r\n,\"c\" : [ \"p\" , 2 , null , \"\\n\" ] , "
      "\"d\":[ ] ,\"e\":[1,[true ]] }");
  ASSERT_TRUE(values) << values.error().ToString();
  EXPECT_EQ(ToText(Value::Array(*values)), R"(["x\"",-1.50,["p",2,null,"\n"],[],[1,[true]]])");
}

TEST(Extractor, ReportsArraysThatAreNotJson) {
  const Extractor extractor({P("a")});
  for (const char* text : {"{\"a\":[1,]}", "{\"a\":[,1]}", "{\"a\":[1 2]}", "{\"a\":[1:2]}",
                           "{\"a\":[tru]}", "{\"a\":[-]}", "{\"a\":[1.]}"}) {
    const auto values = extractor.Values(text);
    ASSERT_FALSE(values) << text;
    EXPECT_EQ(values.error().id(), "json.invalid") << text;
  }
}

TEST(Extractor, AgreesWithParseAndGet) {
  const std::vector<Path> paths = {P("a"),     P("a.b"), P("[0]"),     P("[-1].a"), P("b[1]"),
                                   P("c.c.a"), P(""),    P("a[-2].b"), P("b.a[0]"), P("[1][-1]")};
  const Extractor extractor(paths);
  Random random(11);
  for (int round = 0; round < 20'000; ++round) {
    const std::string text =
        ToText(RandomValue(random, 4), {.indent = static_cast<int>(round % 3)});
    const Value whole = *Parse(text);
    const auto values = extractor.Values(text);
    ASSERT_TRUE(values) << text;
    for (size_t i = 0; i < paths.size(); ++i) {
      ASSERT_EQ((*values)[i], paths[i].Get(whole)) << paths[i].ToString() << " in " << text;
      const std::string raw = Raw(text, paths[i].ToString());
      ASSERT_EQ(raw == "nothing" ? Value() : *Parse(raw), paths[i].Get(whole)) << text;
    }
  }
}

}  // namespace
}  // namespace sluice::json
