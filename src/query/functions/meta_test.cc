#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(MetaFunctions, Uuid) {
  TestContext context;
  const Value first = Call(context, "uuid", {});
  EXPECT_EQ(first, Value("01000000-0000-4000-8200-000000000000"));
  EXPECT_NE(Call(context, "uuid", {}), first);
  EXPECT_EQ(FindFunction("uuid")->volatility, Volatility::kVolatile);
}

TEST(MetaFunctions, Names) {
  TestContext context;
  EXPECT_TRUE(Call(context, "version", {}).is_string());
  EXPECT_EQ(Call(context, "version", {}), Call(context, "ds_version", {}));
  EXPECT_EQ(Call(context, "version", {}), Call(context, "min_version", {}));
  CheckCalls({
      {"current_user", {}, "Administrator"},
      {"current_users", {}, Value::Array({"Administrator"})},
      {"node_name", {}, "localhost"},
      {"node_uuid", {"elsewhere"}, nullptr},
  });
  EXPECT_EQ(Call(context, "node_uuid", {""}), Call(context, "node_uuid", {"localhost"}));
  EXPECT_EQ(Call(context, "node_uuid", {""}).AsString().size(), 36u);
  CheckUnknowns("node_uuid", {""}, {1});
  context.user_name = "";
  CheckCalls(context, {{"current_user", {}, nullptr}, {"current_users", {}, Value::EmptyArray()}});
}

TEST(MetaFunctions, Abort) {
  TestContext context;
  Call(context, "abort", {Value::Object({{"why", 1}})});
  EXPECT_EQ(CodeOf(context.failure), QueryCode::kAborted);
  EXPECT_EQ(context.failure.message(), "Abort: {\"why\":1}");
}

TEST(MetaFunctions, FindErr) {
  CheckCalls({
      {"finderr",
       {5036},
       Value::Array({Value::Object({{"code", 5036}, {"symbol", "query.divide_by_zero"}})})},
      {"finderr",
       {"Divide"},
       Value::Array({Value::Object({{"code", 5036}, {"symbol", "query.divide_by_zero"}})})},
      {"finderr", {1}, nullptr},
      {"finderr", {"nothing like it"}, nullptr},
  });
  CheckUnknowns("finderr", {5036}, {true});
}

}  // namespace
}  // namespace sluice::query
