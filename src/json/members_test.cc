#include "json/members.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::json {
namespace {

// "name=value" of each member, and "!" at the end when the text is malformed.
std::vector<std::string> All(std::string_view text, size_t at) {
  std::vector<std::string> all;
  Members members(text, at);
  for (Member member; members.Next(&member);) {
    const auto value = text.substr(member.begin, member.end - member.begin);
    const char first = text[member.start];
    all.push_back(std::string(1, first) + std::string(member.name) + "=" + std::string(value));
  }
  if (!members.ok()) all.emplace_back("!");
  return all;
}

using Texts = std::vector<std::string>;

TEST(Members, FieldsAndElementsInOrder) {
  EXPECT_EQ(All(R"({ "a" : 1.50 , "b\"":[ 2 ], "a":"x" })", 0),
            (Texts{"\"a=1.50", "\"b\\\"=[ 2 ]", "\"a=\"x\""}));
  EXPECT_EQ(All(R"([true, {} ,"]"])", 0), (Texts{"t=true", "{={}", "\"=\"]\""}));
  EXPECT_EQ(All("[]", 0), Texts{});
}

TEST(Members, ContainersInTheMiddleOfAText) {
  EXPECT_EQ(All(R"({"list":[1,[2],"3"],"n":4})", 8), (Texts{"1=1", "[=[2]", "\"=\"3\""}));
}

TEST(Members, MalformedText) {
  for (const char* text : {"[1 2]", "[1,", "{\"a\" 1}", "{1:2}", "{\"a\":", "[[1]", "[\"a", "["}) {
    ASSERT_FALSE(All(text, 0).empty()) << text;
    EXPECT_EQ(All(text, 0).back(), "!") << text;
  }
  EXPECT_EQ(All("", 0), Texts{"!"});
}

}  // namespace
}  // namespace sluice::json
