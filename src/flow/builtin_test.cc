#include "flow/builtin.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow {
namespace {

constexpr uint64_t kNow = 1'000'000;

// The answer's body, and its delay if it has one.
std::string Answer(std::string_view route, std::string_view body) {
  const BuiltinAnswer answer =
      FindBuiltin(route)(*json::Parse(R"({"h":"v"})"), *json::Parse(body), kNow);
  std::string text = json::ToText(answer.body, {.order = json::PrintOptions::Order::kSorted});
  if (answer.headers.size() > 0) text += " " + json::ToText(answer.headers);
  if (answer.hold_next_ms > 0) text += fmt::format(" after {} ms", answer.hold_next_ms);
  return text;
}

std::string Resilience(std::string_view body) { return Answer("resilience.handler", body); }

TEST(Builtin, Echoes) {
  EXPECT_EQ(Answer("no.op", R"({"a":1})"), R"({"a":1} {"h":"v"})");
  EXPECT_EQ(Answer("echo", R"({"a":1})"), R"({"body":{"a":1},"headers":{"h":"v"}})");
  EXPECT_EQ(FindBuiltin("nobody"), nullptr);
}

TEST(Builtin, MakesAnErrorOfAnError) {
  EXPECT_EQ(Answer("simple.exception.handler", R"({"status":404,"message":"gone","stack":"x"})"),
            R"({"message":"gone","status":404,"type":"error"})");
  EXPECT_EQ(Answer("simple.exception.handler", "{}"), R"({"status":500,"type":"error"})");
}

TEST(Builtin, ResilienceTriesAgainAndGivesUp) {
  EXPECT_EQ(Resilience("{}"), R"({"cumulative":0,"decision":1})");
  EXPECT_EQ(Resilience(R"({"status":500,"max_attempts":3,"delay":50})"),
            R"({"attempt":1,"cumulative":0,"decision":1})");
  EXPECT_EQ(Resilience(R"({"status":500,"attempt":1,"max_attempts":3,"delay":50})"),
            R"({"attempt":2,"cumulative":0,"decision":1} after 50 ms)");
  EXPECT_EQ(Resilience(R"({"status":500,"attempt":2,"max_attempts":3,"delay":1})"),
            R"({"attempt":3,"cumulative":0,"decision":1} after 10 ms)");
  EXPECT_EQ(Resilience(R"({"status":500,"message":"m","attempt":3,"max_attempts":3})"),
            R"({"attempt":4,"cumulative":0,"decision":2,"message":"m","status":500})");
}

TEST(Builtin, ResilienceTakesAnotherWay) {
  constexpr std::string_view kOther = R"({"attempt":1,"cumulative":0,"decision":3})";
  constexpr std::string_view kAgain = R"({"attempt":1,"cumulative":0,"decision":1})";
  const auto with = [](int status) {
    return Resilience(fmt::format(R"({{"status":{},"alternative":"401, 403-404"}})", status));
  };
  EXPECT_EQ(with(401), kOther);
  EXPECT_EQ(with(402), kAgain);
  EXPECT_EQ(with(403), kOther);
  EXPECT_EQ(with(404), kOther);
  EXPECT_EQ(with(405), kAgain);
  EXPECT_EQ(Resilience(R"({"status":500,"alternative":["x",500]})"), kOther);
}

TEST(Builtin, ResilienceRests) {
  EXPECT_EQ(Resilience(R"({"status":500,"backoff_trigger":2,"backoff_seconds":5,"cumulative":1,
                           "max_attempts":9})"),
            R"({"attempt":1,"cumulative":2,"decision":1})");
  EXPECT_EQ(Resilience(R"({"status":500,"backoff_trigger":2,"backoff_seconds":5,"cumulative":2})"),
            R"({"backoff":1005000,"cumulative":3,"decision":2,"message":"Service temporarily not )"
            R"(available - please try again in 5 seconds","status":503})");
  EXPECT_EQ(Resilience(R"({"backoff":1001500,"cumulative":3})"),
            R"({"backoff":1001500,"cumulative":3,"decision":2,"message":"Service temporarily not )"
            R"(available - please try again in 1 second","status":503})");
  EXPECT_EQ(Resilience(R"({"backoff":999000,"cumulative":3})"), R"({"cumulative":0,"decision":1})");
}

}  // namespace
}  // namespace sluice::flow
