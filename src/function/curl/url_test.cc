#include "function/curl/url.h"

#include <gtest/gtest.h>

namespace sluice::function {
namespace {

TEST(RequestUrl, PathAndQueryGoBelowTheBinding) {
  EXPECT_EQ(RequestUrl("http://h", "", ""), "http://h");
  EXPECT_EQ(RequestUrl("http://h:81", "/a/b", ""), "http://h:81/a/b");
  EXPECT_EQ(RequestUrl("http://h", "a", "x=1"), "http://h/a?x=1");
  EXPECT_EQ(RequestUrl("http://h/", "/a", ""), "http://h/a");
  EXPECT_EQ(RequestUrl("http://h/api", "a", ""), "http://h/api/a");
  EXPECT_EQ(RequestUrl("http://h/api", "/a?x=1", "y=2"), "http://h/api/a?x=1&y=2");
  EXPECT_EQ(RequestUrl("http://h/api", "", "y=2&z"), "http://h/api?y=2&z");
  EXPECT_EQ(RequestUrl("http://h/api?key=1", "", "y=2"), "http://h/api?key=1&y=2");
  EXPECT_EQ(RequestUrl("http://h/api", "/a/../b", ""), "http://h/api/a/../b");
}

TEST(RequestUrl, WhatCantStandInAUrlIsEncoded) {
  EXPECT_EQ(RequestUrl("http://h", "/a b\r\nX: y", "q=ä c"),
            "http://h/a%20b%0D%0AX:%20y?q=%C3%A4%20c");
  EXPECT_EQ(RequestUrl("http://h", "/a%20b+c", "q=%41&r=a+b"), "http://h/a%20b+c?q=%41&r=a+b");
}

TEST(RequestUrl, NoPathLeavesTheBinding) {
  for (const char* path :
       {"/..", "../x", "/a/../../x", "/%2e%2e/x", "/%2E./x", "/.%2e/x", "/a%2f..%2f../x", "/..\\x",
        "\\..\\x", "/..%5cx", "/a/../..", "..", "../api/x", "/../api2"}) {
    EXPECT_EQ(RequestUrl("http://h/api", path, "q=1"), "http://h/api?q=1") << path;
  }
}

TEST(RequestUrl, NoPathChangesTheHost) {
  EXPECT_EQ(RequestUrl("http://h", "@evil.example/x", ""), "http://h/@evil.example/x");
  EXPECT_EQ(RequestUrl("http://h", ".evil.example/x", ""), "http://h/.evil.example/x");
  EXPECT_EQ(RequestUrl("http://h", ":99/x", ""), "http://h/:99/x");
  EXPECT_EQ(RequestUrl("http://h", "//evil.example/x", ""), "http://h//evil.example/x");
  EXPECT_EQ(RequestUrl("http://h/api", "http://evil.example/", ""),
            "http://h/api/http://evil.example/");
}

TEST(RequestUrl, ABindingThatIsNoUrlGivesNothing) {
  EXPECT_EQ(RequestUrl("http://", "/a", ""), "");
  EXPECT_EQ(RequestUrl("http://h:port", "/a", ""), "");
}

}  // namespace
}  // namespace sluice::function
