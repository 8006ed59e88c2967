#include "rest/multipart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::rest {
namespace {

constexpr std::string_view kType = "multipart/form-data; boundary=\"xyz\"";

std::string Parsed(std::string_view body, std::string_view type = kType) {
  const auto parts = ParseMultipart(type, body);
  if (!parts) return parts.error().message();
  std::string text;
  for (const Part& part : *parts) {
    text += fmt::format("[{}|{}|{}|{}]", part.name, part.filename, part.content_type, part.body);
  }
  return text;
}

TEST(MultipartTest, FieldsAndFiles) {
  EXPECT_EQ(
      Parsed("--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
             "--xyz\r\ncontent-disposition: form-data; name=f; filename=\"my \\\"x\\\".txt\"\r\n"
             "Content-Type: text/plain\r\n\r\nline\r\n\r\n--xy\r\n--xyz--\r\n"),
      "[a|||1][f|my \"x\".txt|text/plain|line\r\n\r\n--xy]");
  EXPECT_EQ(Parsed("--xyz--"), "");
}

TEST(MultipartTest, WhatIsWrong) {
  EXPECT_THAT(Parsed("", "multipart/form-data"), testing::HasSubstr("has no boundary"));
  EXPECT_THAT(Parsed("hello"), testing::HasSubstr("does not start with the boundary"));
  EXPECT_THAT(Parsed("--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\n1"),
              testing::HasSubstr("the last boundary is missing"));
  EXPECT_THAT(Parsed("--xyz\r\n\r\n1\r\n--xyz--"), testing::HasSubstr("a part has no name"));
  EXPECT_THAT(Parsed("--xyz\r\nnonsense\r\n\r\n1\r\n--xyz--"),
              testing::HasSubstr("malformed header"));
  EXPECT_THAT(Parsed("--xyz\r\nContent-Disposition: form-data; name=a\r\n--xyz--"),
              testing::HasSubstr("no empty line"));
  EXPECT_THAT(Parsed("--xyz"), testing::HasSubstr("no line end"));
}

}  // namespace
}  // namespace sluice::rest
