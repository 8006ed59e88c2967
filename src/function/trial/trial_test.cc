#include "function/trial/trial.h"

#include <gtest/gtest.h>

#include "function/trial/problem.h"
#include "json/parse.h"

namespace sluice::function::trial {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto trial = ParseTrial(text);
  return trial ? "none" : trial.error().message();
}

TEST(TrialTest, AllOfAFile) {
  const auto trial = ParseTrial(R"({
    "about": "x", "function": "f.js", "now": "2026-03-01T10:00:00.5Z",
    "documents": {"a": {"k": 1}, "b.s.c": {}},
    "http": [{"request": {"url": "https://x/"}, "response": {"status": 204}}],
    "steps": [{"put": "k", "value": [1], "in": "b.s.d", "expiry": "90s", "xattrs": {"x": 1}},
              {"delete": "k"}, {"advance": "1h"}, {"expect": {"log": ["l"]}}],
    "expect": {"documents": {"a": {}}, "timers": [{"due": "2026-03-01T10:00:00Z"}]}})");
  ASSERT_TRUE(trial) << trial.error().ToString();
  EXPECT_EQ(PrintMoment(trial->now_ms), "2026-03-01T10:00:00.500Z");
  ASSERT_EQ(trial->documents.size(), 1u);
  EXPECT_EQ(trial->documents[0].key, "k");
  EXPECT_EQ(trial->keyspaces.size(), 3u);  // all that are named
  ASSERT_EQ(trial->http.size(), 1u);
  EXPECT_EQ(trial->http[0].method, "GET");
  EXPECT_EQ(trial->http[0].status, 204);
  ASSERT_EQ(trial->steps.size(), 4u);
  const Put& put = std::get<Put>(trial->steps[0]);
  EXPECT_EQ(put.keyspace->ToString(), "b.s.d");
  EXPECT_EQ(put.expiry_ms, 90'000u);
  EXPECT_FALSE(std::get<Delete>(trial->steps[1]).keyspace);
  EXPECT_EQ(std::get<Advance>(trial->steps[2]).ms, 3'600'000u);
  EXPECT_EQ(std::get<Expectations>(trial->steps[3]).where, "steps[3].expect");
}

TEST(TrialTest, WhatIsWrongIsToldWithItsPlace) {
  EXPECT_EQ(ErrorOf("[]"), "expected an object, got []");
  EXPECT_EQ(ErrorOf("{}"), "function: expected a string, got nothing");
  EXPECT_EQ(ErrorOf(R"({"function": "f.js", "step": []})"),
            "unknown key 'step'; did you mean 'steps'?");
  EXPECT_EQ(ErrorOf(R"({"function": "f.js", "now": "noon"})"),
            "now: expected a moment such as 2026-01-01T00:00:00Z, got \"noon\"");
  EXPECT_EQ(ErrorOf(R"({"function": "f.js", "steps": [{"advance": "1h"}, {"put": "k"}]})"),
            "steps[1].value: expected a document, got nothing");
  EXPECT_EQ(ErrorOf(R"({"function": "f.js", "steps": [{"wait": "1h"}]})"),
            "steps[0]: expected a step with put, delete, advance or expect, got {\"wait\":\"1h\"}");
  EXPECT_EQ(ErrorOf(R"({"function": "f.js", "steps": [{"advance": "soon"}]})"),
            "steps[0].advance: expected a duration such as \"90s\" or \"1h\", got \"soon\"");
  EXPECT_EQ(ErrorOf(R"({"function": "f.js", "expect": {"log": [1]}})"),
            "expect.log[0]: expected a string, got 1");
  EXPECT_EQ(ErrorOf(R"({"function": "f.js", "documents": {"a": {"k": {"$base64": "%"}}}})"),
            "documents.a.k[\"$base64\"]: expected Base64, got \"%\"");
  EXPECT_EQ(ErrorOf(R"({"function": "f.js", "http": [{"request": {"url": "u"}}]})"),
            "http[0]: expected either a response or an error");
  EXPECT_EQ(ErrorOf(R"({"function": "f.js", "expect": {"documents": {"a.b": {}}}})").substr(0, 24),
            "expect.documents[\"a.b\"]:");
}

std::string Differences(std::string_view expected, std::string_view got) {
  Problems problems;
  Compare(*json::Parse(expected), *json::Parse(got), "x", &problems);
  std::string text;
  for (const Problem& problem : problems) text += problem.where + ": " + problem.message + "\n";
  return text;
}

TEST(TrialTest, DifferencesAreToldByPath) {
  EXPECT_EQ(Differences(R"({"a": 1, "b": [1, 2]})", R"({"b": [1, 2], "a": 1.0})"), "");
  EXPECT_EQ(Differences(R"({"a": {"k k": 1}, "b": 2})", R"({"a": {"k k": 2}, "c": 3})"),
            "x.a[\"k k\"]: expected 1, got 2\n"
            "x.b: expected 2, found none\n"
            "x.c: expected nothing, got 3\n");
  EXPECT_EQ(Differences("[1, 2, 3]", "[1, 4]"),
            "x[1]: expected 2, got 4\n"
            "x[2]: expected 3, found none\n");
}

TEST(TrialTest, LinesHaveWhatIsExpectedInThem) {
  Problems problems;
  CompareLines(*json::Parse(R"(["a", "b"])"), {"xax", "c\nstack", "d"}, "log", &problems);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].message, "expected a line with \"b\", got: c");
  EXPECT_EQ(problems[1].message, "expected nothing, got: d");
}

}  // namespace
}  // namespace sluice::function::trial
