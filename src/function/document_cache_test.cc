#include "function/document_cache.h"

#include <gtest/gtest.h>

namespace sluice::function {
namespace {

constexpr uint64_t kMs = 1'000'000;

db::Document Of(std::string body) { return db::Document{.body = std::move(body)}; }

TEST(DocumentCache, GivesWhatItWasGivenUntilItIsOld) {
  DocumentCache cache(1 << 20, 10);
  EXPECT_EQ(cache.Find(1, "a", 0), nullptr);
  EXPECT_TRUE(cache.Put(1, "a", Of("1"), 5 * kMs));
  EXPECT_TRUE(cache.Put(2, "a", Of("2"), 5 * kMs));
  ASSERT_NE(cache.Find(1, "a", 15 * kMs), nullptr);
  EXPECT_EQ(cache.Find(1, "a", 15 * kMs)->body, "1");
  EXPECT_EQ(cache.Find(2, "a", 15 * kMs)->body, "2");
  EXPECT_EQ(cache.Find(1, "a", 16 * kMs), nullptr);
  EXPECT_TRUE(cache.Put(1, "a", Of("3"), 16 * kMs));
  EXPECT_EQ(cache.Find(1, "a", 16 * kMs)->body, "3");
}

TEST(DocumentCache, WhatIsErasedIsGone) {
  DocumentCache cache(1 << 20, 10);
  cache.Put(1, "a", Of("1"), 0);
  cache.Put(1, "b", Of("2"), 0);
  cache.Erase(1, "a");
  cache.Erase(1, "missing");
  EXPECT_EQ(cache.Find(1, "a", 0), nullptr);
  EXPECT_NE(cache.Find(1, "b", 0), nullptr);
  cache.Clear();
  EXPECT_EQ(cache.Find(1, "b", 0), nullptr);
}

TEST(DocumentCache, TheLeastRecentlyUsedLeavesFirst) {
  DocumentCache cache(3000, 10);
  const std::string body(1000, 'x');
  EXPECT_TRUE(cache.Put(1, "a", Of(body), 0));
  EXPECT_TRUE(cache.Put(1, "b", Of(body), 0));
  EXPECT_NE(cache.Find(1, "a", 0), nullptr);
  EXPECT_FALSE(cache.Put(1, "c", Of(body), 0));
  EXPECT_NE(cache.Find(1, "a", 0), nullptr);
  EXPECT_EQ(cache.Find(1, "b", 0), nullptr);
  EXPECT_NE(cache.Find(1, "c", 0), nullptr);
  EXPECT_FALSE(cache.Put(1, "d", Of(std::string(3000, 'x')), 0)) << "does not fit at all";
  EXPECT_NE(cache.Find(1, "a", 0), nullptr);
}

}  // namespace
}  // namespace sluice::function
