#include "rest/xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/print.h"

namespace sluice::rest {
namespace {

std::string Parsed(std::string_view text) {
  const auto value = ParseXml(text);
  return value ? json::ToText(*value) : value.error().message();
}

TEST(XmlTest, ElementsAreFields) {
  EXPECT_EQ(Parsed("<order><id>7</id><item>a</item><item>b</item><none/></order>"),
            R"({"id":"7","item":["a","b"],"none":""})");
  EXPECT_EQ(Parsed("<?xml version='1.0'?><!-- hi --><a> x </a>\n"), R"("x")");
  EXPECT_EQ(Parsed("<a n='1' m=\"2\">text</a>"), R"({"n":"1","m":"2","value":"text"})");
  EXPECT_EQ(Parsed("<a><b><c>1</c></b></a>"), R"({"b":{"c":"1"}})");
}

TEST(XmlTest, ReferencesAndSections) {
  EXPECT_EQ(Parsed("<a>&lt;&amp;&#65;&#x20AC;<![CDATA[<b>]]></a>"), "\"<&A\u20AC<b>\"");
  EXPECT_EQ(Parsed("<a>&nbsp;</a>"), "the body is not XML: '&nbsp;' is unknown (line 1)");
}

TEST(XmlTest, WhatIsWrongHasItsLine) {
  EXPECT_EQ(Parsed("<a>\n<b></a>"), "the body is not XML: expected </b> (line 2)");
  EXPECT_EQ(Parsed(""), "the body is not XML: expected an element (line 1)");
  EXPECT_EQ(Parsed("<a"), "the body is not XML: the text ends inside an element (line 1)");
  EXPECT_EQ(Parsed("<a></a><b/>"),
            "the body is not XML: expected the end after the root element (line 1)");
  EXPECT_EQ(Parsed("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"),
            "the body is not XML: document types are not taken (line 1)");
  EXPECT_EQ(Parsed("<a>\xff</a>"), "the body is not XML: expected UTF-8 (line 1)");
  EXPECT_THAT(Parsed("<a>&#xD800;</a>"), testing::HasSubstr("unknown"));
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "<a>";
  EXPECT_THAT(Parsed(deep), testing::HasSubstr("too many elements inside each other"));
}

TEST(XmlTest, Printed) {
  EXPECT_EQ(PrintXml(*json::Parse(R"({"a":"<x>","n":[1,2],"o":{"b":null},"1 x":true})")),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<result><a>&lt;x&gt;</a><n>1</n><n>2</n>"
            "<o><b></b></o><_1_x>true</_1_x></result>");
}

}  // namespace
}  // namespace sluice::rest
