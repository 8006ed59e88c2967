#include "function/global_config.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace sluice::function {
namespace {

Result<GlobalConfig> Merge(const GlobalConfig& before, const std::string& changes) {
  return MergeConfig(before, json::Parse(changes).value());
}

TEST(GlobalConfig, ChangesAreMergedAndNullsGoBack) {
  const GlobalConfig changed =
      Merge({}, R"({"allow_interbucket_recursion": true, "function_size": 10})").value();
  EXPECT_TRUE(changed.allow_recursion);
  EXPECT_EQ(changed.function_bytes, 10u);
  EXPECT_TRUE(changed.curl);
  const GlobalConfig again =
      Merge(changed, R"({"function_size": null, "disable_curl_binding": true})").value();
  EXPECT_TRUE(again.allow_recursion);
  EXPECT_EQ(again.function_bytes, 131072u);
  EXPECT_FALSE(again.curl_bindings);
  EXPECT_TRUE(again.curl);
  EXPECT_EQ(again.Print()["ram_quota"], json::Value(256));
}

TEST(GlobalConfig, WhatIsWrongIsNamed) {
  EXPECT_EQ(Merge({}, R"({"enable_crul": true})").error().message(),
            "there is no configuration 'enable_crul'; did you mean 'enable_curl'?");
  EXPECT_EQ(Merge({}, R"({"function_size": 0})").error().message(),
            "config.function_size: expected a whole number from 1 to 1048576, got 0");
  EXPECT_EQ(Merge({}, R"({"num_nodes_running": 0})").error().id(), "function.invalid_config");
  EXPECT_EQ(Merge({}, "[]").error().id(), "function.invalid_definition");
}

}  // namespace
}  // namespace sluice::function
