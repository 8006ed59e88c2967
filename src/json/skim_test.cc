#include "json/skim.h"

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "json/extract.h"

namespace sluice::json {
namespace {

// How many bytes the value at the start of `text` takes; -1 if it does not end. The text is copied
// to memory that ends with it, so that a sanitizer notices who reads on.
ptrdiff_t ValueBytes(std::string_view text) {
  const auto copy = std::make_unique_for_overwrite<char[]>(text.size());
  text.copy(copy.get(), text.size());
  const char* const after = SkimValue(copy.get(), copy.get() + text.size());
  return after == nullptr ? -1 : after - copy.get();
}

TEST(Skim, StringsOfAllLengthsAndTheirEscapes) {
  for (size_t length = 0; length < 70; ++length) {
    const std::string plain = '"' + std::string(length, 'x') + '"';
    const auto bytes = static_cast<ptrdiff_t>(plain.size());
    EXPECT_EQ(ValueBytes(plain), bytes);
    EXPECT_EQ(ValueBytes(plain + ",\"" + plain), bytes);
    EXPECT_EQ(ValueBytes(plain.substr(0, plain.size() - 1)), -1) << length;
    for (size_t at = 1; at + 1 < length; ++at) {
      for (const char* escape : {"\\\"", "\\\\"}) {
        std::string escaped = plain;
        escaped.replace(at, 2, escape);
        EXPECT_EQ(ValueBytes(escaped + "\""), bytes) << escaped;
      }
      std::string unended = plain;
      unended.replace(unended.size() - 2, 2, "\\\"");
      EXPECT_EQ(ValueBytes(unended), -1) << unended;
      EXPECT_EQ(ValueBytes(unended.substr(0, unended.size() - 1)), -1) << unended;
    }
  }
}

TEST(Skim, BracketsInStringsDoNotCount) {
  const std::string plain = R"({"a}":["]","}",{}],"b":[[]],"a longer string with [[ and }":1},)";
  const std::string escaped = R"({"a}":["]","\"}",{}],"b":[[]]},)";
  for (size_t length = 0; length < 140; ++length) {
    for (const std::string& middle : {plain, escaped, plain + plain, plain + escaped + plain}) {
      const std::string text =
          "[" + std::string(length / 2, ' ') + middle + '"' + std::string(length, ']') + "\"]";
      EXPECT_EQ(ValueBytes(text), static_cast<ptrdiff_t>(text.size())) << text;
      EXPECT_EQ(ValueBytes(text + "]}" + text), static_cast<ptrdiff_t>(text.size())) << text;
      for (size_t end = 1; end < text.size(); ++end) {
        EXPECT_EQ(ValueBytes(std::string_view(text).substr(0, end)), -1) << end;
      }
    }
  }
}

TEST(Skim, WordsEndBeforeWhatFollows) {
  EXPECT_EQ(ValueBytes("-1.5e3"), 6);
  EXPECT_EQ(ValueBytes("true,false"), 4);
  EXPECT_EQ(ValueBytes("null }"), 4);
  EXPECT_EQ(ValueBytes("12]"), 2);
  EXPECT_EQ(ValueBytes("12345678901234567890123456789012345}"), 35);
  EXPECT_EQ(ValueBytes("1\n" + std::string(20, ' ')), 1);
  EXPECT_EQ(ValueBytes("1," + std::string(20, '1')), 1);
  for (const char* nothing : {",", "]", "}", " "}) EXPECT_EQ(ValueBytes(nothing), -1);
}

// Documents that end too early are reported, wherever that is.
TEST(Skim, PrefixesOfADocumentAreNotJson) {
  constexpr std::string_view kDocument =
      R"({ "name" : "a long name with \"quotes\" in it", "list":[1, {"x" : [true,null]}, "s"], "n":-12.5, "last":{}})";
  const Extractor extractor({*Path::Parse("name"), *Path::Parse("list[1].x[-1]"),
                             *Path::Parse("list[-1]"), *Path::Parse("n"), *Path::Parse("last")});
  for (size_t size = 0; size < kDocument.size(); ++size) {
    const auto copy = std::make_unique_for_overwrite<char[]>(size);
    kDocument.copy(copy.get(), size);
    const auto raw = extractor.Raw({copy.get(), size});
    ASSERT_FALSE(raw) << kDocument.substr(0, size);
    EXPECT_EQ(raw.error().id(), "json.invalid");
  }
  const auto raw = extractor.Raw(kDocument);
  ASSERT_TRUE(raw) << raw.error().ToString();
  EXPECT_EQ((*raw)[1], "null");
  EXPECT_EQ((*raw)[2], R"("s")");
  EXPECT_EQ((*raw)[3], "-12.5");
  EXPECT_EQ((*raw)[4], "{}");
}

}  // namespace
}  // namespace sluice::json
