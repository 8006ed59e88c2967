#include "json/parse.h"

#include <gtest/gtest.h>

#include "json/print.h"

namespace sluice::json {
namespace {

std::string Reprinted(std::string_view text) {
  const auto value = Parse(text);
  return value ? ToText(*value) : value.error().ToString();
}

TEST(Parse, NumbersPrintAsTheyCame) {
  for (const char* text : {"0",
                           "-0",
                           "-0.0",
                           "1.0",
                           "1e3",
                           "1E+3",
                           "1.50",
                           "100.00",
                           "9223372036854775807",
                           "-9223372036854775808",
                           "9223372036854775808",
                           "18446744073709551615",
                           "1e400",
                           "-1e-400",
                           "123456789012345678901234567890.123",
                           "0.1",
                           "3.141592653589793",
                           "5e-324",
                           "1e21",
                           "0.30000000000000004"}) {
    EXPECT_EQ(Reprinted(text), text);
    EXPECT_TRUE(Validate(text).ok()) << text;
  }
}

TEST(Parse, NumberTypes) {
  EXPECT_EQ(Parse("9223372036854775807")->AsInt(), INT64_MAX);
  EXPECT_EQ(Parse("-9223372036854775808")->AsInt(), INT64_MIN);
  EXPECT_EQ(Parse("9223372036854775808")->AsDouble(), 9223372036854775808.0);
  EXPECT_TRUE(std::signbit(Parse("-0")->AsDouble()));
  EXPECT_EQ(Parse("1e400")->AsDouble(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Parse("-1" + std::string(400, '0') + "e-1")->AsDouble(),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Parse("0." + std::string(400, '0') + "1e+2")->AsDouble(), 0.0);
  EXPECT_EQ(Parse("3.141592653589793")->literal(), "");  // canonical, so nothing is kept
}

TEST(Parse, StructureAndWhiteSpace) {
  EXPECT_EQ(Reprinted(" \t\r\n{ \"a\" : [ ] , \"b\" : { } , \"c\":[true,false,null] } \n"),
            R"({"a":[],"b":{},"c":[true,false,null]})");
  EXPECT_EQ(Reprinted(R"({"a":1,"b":2,"a":3})"), R"({"a":3,"b":2})");
}

TEST(Parse, Strings) {
  EXPECT_EQ(Parse(R"("\"\\\/\b\f\n\r\tA\u00e9\u20ac\ud83d\ude00")")->AsString(),
            "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600");
  EXPECT_EQ(Parse(R"("\u0000x")")->AsString(), std::string_view("\0x", 2));
  EXPECT_EQ(Parse(R"("\ud800-\udc00\ud800\u0041")")->AsString(), "\ufffd-\ufffd\ufffdA");
  EXPECT_EQ(Reprinted("\"\u00e9\U0001F600\x7f\""), "\"\u00e9\U0001F600\x7f\"");
  EXPECT_TRUE(Validate(R"("\ud800")").ok());
  EXPECT_EQ(Parse(R"({"\u0061":1})")->operator[]("a").AsInt(), 1);
}

TEST(Parse, ErrorsSayWhatAndWhere) {
  const struct {
    std::string_view text;
    uint32_t line, column;
    std::string_view message;
  } cases[] = {
      {"", 1, 1, "expected a value, found the end of the text"},
      {"{", 1, 2, "expected a field name in quotes, found the end of the text"},
      {"{\"a\" 1}", 1, 6, "expected ':' after the field name, found '1'"},
      {"{\"a\":1,}", 1, 8, "expected a field name in quotes, found '}'"},
      {"[1,]", 1, 4, "expected a value, found ']'"},
      {"[1 2]", 1, 4, "expected ',' or ']', found '2'"},
      {"{\"a\":1]", 1, 7, "expected ',' or '}', found ']'"},
      {"[1]\n x", 2, 2, "expected the end of the text, found 'x'"},
      {"nul", 1, 1, "expected a value, found 'n'"},
      {"01", 1, 2, "expected the end of the text, found '1'"},
      {"-", 1, 1, "expected a number such as 12, -0.5 or 1e9, found '-'"},
      {"1.", 1, 1, "expected a number such as 12, -0.5 or 1e9, found '1'"},
      {"+1", 1, 1, "expected a value, found '+'"},
      {"NaN", 1, 1, "expected a value, found 'N'"},
      {"\"\u00e9\n\"", 1, 3,
       "expected a character of a string or its closing quote, found the control character 0x0a"},
      {"\"abc", 1, 5,
       "expected a character of a string or its closing quote, found the end of the text"},
      {"\"\\x\"", 1, 3,
       "expected one of \" \\ / b f n r t or u and four hex digits after a backslash, found 'x'"},
      {"\"\\u12g4\"", 1, 3,
       "expected one of \" \\ / b f n r t or u and four hex digits after a backslash, found 'u'"},
      {"[\n\"a\",\n\"\xff\"]", 3, 2, "expected UTF-8, found the byte 0xff"},
      {"\"\xed\xa0\x80\"", 1, 2, "expected UTF-8, found the byte 0xed"},
      {"\xef\xbb\xbf{}", 1, 1, "expected a value, found '\xef\xbb\xbf'"},
  };
  for (const auto& c : cases) {
    const auto value = Parse(c.text);
    ASSERT_FALSE(value) << c.text;
    EXPECT_EQ(value.error().id(), "json.invalid");
    EXPECT_EQ(value.error().message(), c.message) << c.text;
    EXPECT_EQ(value.error().place().line, c.line) << c.text;
    EXPECT_EQ(value.error().place().column, c.column) << c.text;
    EXPECT_EQ(Validate(c.text).ToString(), value.error().ToString());
  }
}

TEST(Parse, DepthIsLimited) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') + "1" +
           std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_TRUE(Parse(nested(kMaxDepth)));
  EXPECT_TRUE(Validate(nested(kMaxDepth)).ok());
  const auto deeper = Parse(nested(kMaxDepth + 1));
  ASSERT_FALSE(deeper);
  EXPECT_EQ(deeper.error().id(), "json.too_deep");
  EXPECT_EQ(deeper.error().place().column, 129u);
  EXPECT_EQ(Validate(nested(kMaxDepth + 1)).id(), "json.too_deep");
  EXPECT_EQ(Parse(std::string(1 << 20, '[')).error().id(), "json.too_deep");
}

TEST(Parse, SizeIsLimited) {
  EXPECT_EQ(Parse("[1,2]", {.max_bytes = 4}).error().id(), "json.too_large");
  EXPECT_EQ(Validate("[1,2]", {.max_bytes = 4}).code(), Code::kTooLarge);
  EXPECT_TRUE(Parse("[1,2]", {.max_bytes = 5}));
}

TEST(Parse, LargeDocumentsThenSmallOnes) {
  const std::string large = "[\"" + std::string(3 << 20, 'x') + "\"]";
  EXPECT_TRUE(Validate(large).ok());
  EXPECT_EQ(Parse(large)->items()[0].AsString().size(), 3u << 20);
  EXPECT_TRUE(Validate("[1]").ok());
  EXPECT_FALSE(Validate("[1").ok());
}

}  // namespace
}  // namespace sluice::json
