#include <cmath>
#include <limits>

#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ConditionalFunctionsTest, Unknowns) {
  CheckTexts({
      {"if_missing", "[\"MISSING\", null, 1]", "null"},
      {"ifmissing", "[\"MISSING\", \"MISSING\"]", "null"},
      {"if_missing_or_null", "[\"MISSING\", null, 1]", "1"},
      {"coalesce", "[null, \"MISSING\"]", "null"},
      {"if_null", "[null, \"MISSING\", 1]", "MISSING"},
      {"if_null", "[null, null]", "null"},
      {"missing_if", "[1, 1]", "MISSING"},
      {"missing_if", "[1, 2]", "1"},
      {"missingif", "[1, null]", "null"},
      {"null_if", "[1, 1]", "null"},
      {"nullif", "[1, 2]", "1"},
      {"null_if", "[\"MISSING\", 2]", "MISSING"},
      {"nvl", "[null, 1]", "1"},
      {"nvl", "[\"MISSING\", 1]", "1"},
      {"nvl", "[0, 1]", "0"},
      {"nvl2", "[0, 1, 2]", "1"},
      {"nvl2", "[null, 1, 2]", "2"},
      {"nvl2", "[\"MISSING\", 1, 2]", "2"},
  });
}

TEST(ConditionalFunctionsTest, Decode) {
  CheckTexts({
      {"decode", "[2, 1, \"one\", 2, \"two\"]", "\"two\""},
      {"decode", "[3, 1, \"one\", 2, \"two\"]", "null"},
      {"decode", "[3, 1, \"one\", 2, \"two\", \"many\"]", "\"many\""},
      {"decode", "[null, null, \"nothing\"]", "\"nothing\""},
      {"decode", "[\"MISSING\", null, \"nothing\", \"other\"]", "\"other\""},
  });
}

TEST(ConditionalFunctionsTest, Numbers) {
  const double nan = std::nan("");
  CheckCalls({
      {"if_inf", {kInfinity, -kInfinity, 2}, 2},
      {"if_inf", {kMissing, 2}, 2},
      {"if_inf", {"a", 2}, nullptr},
      {"if_inf", {kInfinity, kInfinity}, nullptr},
      {"if_nan", {nan, 3}, 3},
      {"ifnan", {nullptr, 3}, nullptr},
      {"if_nan_or_inf", {nan, kInfinity, 4}, 4},
      {"nan_if", {1, 2}, 1},
      {"nan_if", {kMissing, 2}, kMissing},
      {"neginf_if", {1, 2}, 1},
      {"posinf_if", {1, nullptr}, nullptr},
  });
  TestContext context;
  EXPECT_TRUE(std::isnan(Call(context, "nan_if", {1, 1.0}).AsDouble()));
  EXPECT_EQ(Call(context, "neginf_if", {1, 1}).AsDouble(), -kInfinity);
  EXPECT_EQ(Call(context, "posinfif", {1, 1}).AsDouble(), kInfinity);
}

}  // namespace
}  // namespace sluice::query
