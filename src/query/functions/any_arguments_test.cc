// Every scalar function with arguments that nobody meant for it: the types that it documents come
// back, MISSING and NULL are passed on, and nothing crashes.
#include "base/random.h"
#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

const std::vector<Value>& Pool() {
  static const std::vector<Value> pool = {
      kMissing,
      nullptr,
      true,
      false,
      0,
      1,
      -1,
      3,
      63,
      INT64_MAX,
      INT64_MIN,
      0.5,
      -2.0,
      1e300,
      -1e300,
      1'700'000'000'123,
      "",
      "a",
      "é€😀",
      "%Y-%m-%d",
      "YYYY-MM-DD hh:mm:ss.sTZD",
      "2006-01-02T15:04:05.999Z07:00",
      "2023-11-14T22:13:20.123+05:30",
      "9999-12-31T23:59:59Z",
      "10:11",
      "day",
      "millennium",
      "Europe/Paris",
      "[a-z]+",
      "%_\\%",
      "1h30m",
      "legacy",
      "eJwDAAAAAAE=",
      "crc32",
      Value::Bytes("\xff\x00z"),
      Value::EmptyArray(),
      Value::Array({1, "b", nullptr, Value::Array({2})}),
      Value::EmptyObject(),
      Value::Object({{"mask", "##"}, {"anchor", -1}, {"case", "upper"}, {"algorithm", "md5"}}),
  };
  return pool;
}

TEST(AnyArguments, NothingCrashes) {
  Random random(11);
  for (const std::string_view name : FunctionNames()) {
    if (name == "sleep") continue;  // it would
    const ScalarFunction* function = FindFunction(name);
    const size_t most =
        function->max_args == kAnyNumber ? function->min_args + 2 : function->max_args;
    for (int round = 0; round < 400; ++round) {
      TestContext context;
      context.limit_bytes = 64 << 10;
      std::vector<Value> args(function->min_args + random.Below(most - function->min_args + 1));
      bool missing = false, null = false;
      for (Value& arg : args) {
        arg = Pool()[random.Below(Pool().size())];
        missing |= arg.is_missing();
        null |= arg.is_null();
      }
      const Value result = Call(context, name, args);
      if (function->unknowns == Unknowns::kPropagate && (missing || null)) {
        EXPECT_EQ(ShowValue(result), missing ? "MISSING" : "null") << name;
      }
      json::ToText(result);
      if (function->volatility == Volatility::kPure && context.failure.ok()) {
        EXPECT_EQ(ShowValue(Call(context, name, args)), ShowValue(result)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace sluice::query
