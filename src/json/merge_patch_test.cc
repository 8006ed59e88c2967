#include "json/merge_patch.h"

#include <gtest/gtest.h>

namespace sluice::json {
namespace {

TEST(MergePatch, CasesOfTheRfc) {
  const struct {
    std::string_view document, patch, result;
  } cases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({"n":1.50,"big":18446744073709551615})", R"({"x":1e3})",
       R"({"n":1.50,"big":18446744073709551615,"x":1e3})"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(MergePatchText(c.document, c.patch), c.result) << c.document << " " << c.patch;
  }
}

TEST(MergePatch, ErrorsSayWhichText) {
  EXPECT_EQ(MergePatchText("{", "{}").error().message(),
            "expected a field name in quotes, found the end of the text");
  EXPECT_EQ(MergePatchText("{}", "{").error().message(),
            "patch: expected a field name in quotes, found the end of the text");
}

}  // namespace
}  // namespace sluice::json
