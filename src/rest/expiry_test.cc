#include "rest/expiry.h"

#include <gtest/gtest.h>

namespace sluice::rest {
namespace {

constexpr uint64_t kNow = 1'700'000'000'000;

TEST(ExpiryTest, Durations) {
  EXPECT_EQ(*ParseExpiry("30s", kNow), kNow + 30'000);
  EXPECT_EQ(*ParseExpiry("7d", kNow), kNow + 7ull * 86'400'000);
  EXPECT_EQ(*ParseExpiry("1ms", kNow), kNow + 1);
}

TEST(ExpiryTest, Moments) {
  EXPECT_EQ(*ParseExpiry("1700000000001", kNow), kNow + 1);
  EXPECT_EQ(*ParseExpiry("2026-11-15T12:00:00Z", kNow), 1'794'744'000'000u);
  EXPECT_EQ(*ParseExpiry("2026-11-15T12:00:00.25Z", kNow), 1'794'744'000'250u);
  EXPECT_EQ(*ParseExpiry("2026-11-15T12:00:00.123456Z", kNow), 1'794'744'000'123u);
  EXPECT_EQ(*ParseExpiry("2026-11-15T13:30:00+01:30", kNow), 1'794'744'000'000u);
  EXPECT_EQ(*ParseExpiry("2026-11-15T07:00:00-05:00", kNow), 1'794'744'000'000u);
}

TEST(ExpiryTest, Never) { EXPECT_EQ(*ParseExpiry("0", kNow), 0u); }

TEST(ExpiryTest, WhatIsRefused) {
  for (const std::string_view text :
       {"", "soon", "-1", "1.5s", "0s", "1699999999999", "1700000000000", "99999999999999999",
        "99999999999999999d", "2023-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
        "2026-11-15 12:00:00Z", "2026-11-15T12:00:00", "2026-11-15T25:00:00Z",
        "2026-11-15T12:00:00.Z", "2026-11-15T12:00:00Zx", "2026-11-15T12:00:00+1:00",
        "9999-12-31T23:59:59-23:59"}) {
    const Result<uint64_t> expiry = ParseExpiry(text, kNow);
    ASSERT_FALSE(expiry) << text;
    EXPECT_EQ(expiry.error().id(), "document.bad_expiry") << text;
  }
}

TEST(ExpiryTest, Fields) {
  EXPECT_FALSE(ExpiryField(json::Value::EmptyObject(), kNow)->has_value());
  EXPECT_FALSE(ExpiryField(json::Value::Object({{"expiry", nullptr}}), kNow)->has_value());
  EXPECT_EQ(**ExpiryField(json::Value::Object({{"expiry", "1s"}}), kNow), kNow + 1000);
  EXPECT_EQ(**ExpiryField(json::Value::Object({{"expiry", 0}}), kNow), 0u);
  EXPECT_EQ(ExpiryField(json::Value::Object({{"expiry", true}}), kNow).error().id(),
            "http.bad_body");
}

}  // namespace
}  // namespace sluice::rest
