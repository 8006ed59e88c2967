#include "cli/api.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

using ::testing::ElementsAre;

TEST(Api, EncodesPathsAndQueries) {
  EXPECT_EQ(Segment("user::1/ä"), "user%3A%3A1%2F%C3%A4");
  EXPECT_EQ(Query({{"prefix", "a&b"}, {"from", ""}, {"limit", "5"}}), "?prefix=a%26b&limit=5");
  EXPECT_EQ(Query({{"from", ""}}), "");
}

TEST(Api, ErrorsKeepTheServersIdAndFields) {
  const Status status = ErrorOf(
      404, R"({"error":{"id":"document.not_found","message":"no","request_id":"r1","line":3}})");
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.id(), "document.not_found");
  EXPECT_EQ(status.message(), "no");
  EXPECT_EQ(status.fields().at("request_id"), "r1");
  EXPECT_EQ(status.place().line, 3u);
}

TEST(Api, AnswersThatAreNotOurs) {
  const Status status = ErrorOf(502, "<html>bad gateway</html>");
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.id(), "cli.bad_answer");
}

TEST(Api, CodesFollowTheHttpStatus) {
  const auto code = [](int http) { return ErrorOf(http, "").code(); };
  EXPECT_EQ(code(400), Code::kInvalidArgument);
  EXPECT_EQ(code(401), Code::kUnauthenticated);
  EXPECT_EQ(code(403), Code::kForbidden);
  EXPECT_EQ(code(409), Code::kConflict);
  EXPECT_EQ(code(412), Code::kConflict);
  EXPECT_EQ(code(413), Code::kTooLarge);
  EXPECT_EQ(code(501), Code::kUnsupported);
  EXPECT_EQ(code(503), Code::kUnavailable);
  EXPECT_EQ(code(507), Code::kNoSpace);
  EXPECT_EQ(code(500), Code::kInternal);
}

TEST(LineSplitter, PutsPiecesTogether) {
  std::vector<std::string> lines;
  LineSplitter splitter(5, [&](std::string_view line) {
    lines.emplace_back(line);
    return OkStatus();
  });
  for (const char* piece : {"ab", "c\nd\n", "\n", "e"}) ASSERT_TRUE(splitter.Feed(piece).ok());
  ASSERT_TRUE(splitter.Finish().ok());
  EXPECT_THAT(lines, ElementsAre("abc", "d", "", "e"));
  EXPECT_EQ(splitter.Feed("123456").id(), "cli.bad_answer");
}

}  // namespace
}  // namespace sluice::cli
