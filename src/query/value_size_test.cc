#include "query/value_size.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::query {
namespace {

using json::Value;

TEST(ValueSizeTest, Counts) {
  EXPECT_EQ(ApproximateBytes(5), 16u);
  EXPECT_EQ(ApproximateBytes("short"), 16u);
  EXPECT_EQ(ApproximateBytes(std::string(100, 'x')), 140u);
  EXPECT_EQ(ApproximateBytes(Value::Array({1, 2})), 112u);
  EXPECT_EQ(ApproximateBytes(Value::Object({{"a", 1}})), 144u);
  EXPECT_EQ(ApproximateBytes(Value::Bytes("abc")), 43u);
}

TEST(ValueSizeTest, StopsAtSharedParts) {
  Value value = 1;
  for (int i = 0; i < 10; ++i) value = Value::Array(std::vector<Value>(1000, value));
  EXPECT_GE(ApproximateBytes(value), kMostCountedBytes);
  EXPECT_LT(ApproximateBytes(value), kMostCountedBytes * 2);
}

}  // namespace
}  // namespace sluice::query
