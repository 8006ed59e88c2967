#include "function/definition.h"

#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/print.h"

namespace sluice::function {
namespace {

json::Value Json(const std::string& text) { return json::Parse(text).value(); }

// A definition with these members of depcfg and settings.
json::Value Make(const std::string& depcfg, const std::string& settings = "{}") {
  return Json(R"({"appname": "f", "appcode": "", "depcfg": {"source_bucket": "s",
                  "metadata_bucket": "m")" +
              (depcfg.empty() ? "" : ", " + depcfg) + R"(}, "settings": )" + settings + "}");
}

std::string ErrorOf(const json::Value& value) {
  const auto parsed = ParseDefinition(value);
  return parsed ? "" : std::string(parsed.error().message());
}
std::string SettingError(const std::string& settings) { return ErrorOf(Make("", settings)); }
std::string AliasError(const std::string& alias) {
  return ErrorOf(Make(R"("buckets": [{"alias": ")" + alias + R"(", "bucket_name": "b"}])"));
}

TEST(Definition, SettingsHaveTheirDefaults) {
  const Definition definition = ParseDefinition(Make("")).value();
  const json::Value settings = PrintDefinition(definition, Secrets::kShown)["settings"];
  EXPECT_EQ(settings["worker_count"], json::Value(1));
  EXPECT_EQ(settings["execution_timeout"], json::Value(60));
  EXPECT_EQ(settings["lcb_timeout"], json::Value(5));
  EXPECT_EQ(settings["bucket_cache_size"], json::Value(64 << 20));
  EXPECT_EQ(settings["log_level"], json::Value("INFO"));
  EXPECT_EQ(settings["enable_applog_rotation"], json::Value(true));
  EXPECT_EQ(settings["language_compatibility"], json::Value("7.2.0"));
  EXPECT_EQ(json::ToText(settings["handler_headers"]), R"(["'use strict';"])");
  EXPECT_TRUE(settings["user_prefix"].is_missing());
}

TEST(Definition, SettingsAreCheckedAndComeBack) {
  EXPECT_EQ(SettingError(R"({"worker_count": 0})"),
            "settings.worker_count: expected a whole number from 1, got 0");
  EXPECT_EQ(SettingError(R"({"lcb_timeout": 4})"),
            "settings.lcb_timeout: expected a whole number from 5, got 4");
  EXPECT_EQ(SettingError(R"({"log_level": "LOUD"})"),
            "settings.log_level: expected one of INFO, ERROR, WARNING, DEBUG, TRACE, got 'LOUD'");
  EXPECT_EQ(SettingError(R"({"n1ql_prepare_all": 1})"),
            "settings.n1ql_prepare_all: expected true or false, got number");
  EXPECT_EQ(SettingError(R"({"dcp_stream_boundary": "from_then"})"),
            "settings.dcp_stream_boundary: expected one of everything, from_now, from_prior, got "
            "'from_then'");
  EXPECT_EQ(SettingError(R"({"processing_status": true})"),
            "settings: processing_status can't be true while deployment_status is false");
  const Definition definition =
      ParseDefinition(Make("", R"({"lcb_timeout": 7, "user_prefix": "eventing"})")).value();
  const json::Value again = PrintDefinition(definition, Secrets::kShown);
  EXPECT_EQ(again["settings"]["lcb_timeout"], json::Value(7));
  EXPECT_EQ(again["settings"]["user_prefix"], json::Value("eventing"));
  EXPECT_EQ(PrintDefinition(ParseDefinition(again).value(), Secrets::kShown), again);
}

TEST(Definition, UnknownSettingsAreKeptAndToldOf) {
  json::Value value = Make("", R"({"retry_cuont": 1, "cluster_stats": null, "my own": {"a": 1}})");
  const Definition definition = ParseDefinition(value).value();
  EXPECT_EQ(SettingWarnings(definition.settings),
            (std::vector<std::string>{
                "settings: there is no setting 'retry_cuont'; did you mean 'retry_count'? It is "
                "kept and changes nothing",
                "settings: there is no setting 'my own'. It is kept and changes nothing"}));
  const json::Value again = PrintDefinition(definition, Secrets::kShown)["settings"];
  EXPECT_EQ(again["my own"]["a"], json::Value(1));
  EXPECT_TRUE(again["cluster_stats"].is_null());
  value.Set("enforce_schema", true);
  EXPECT_EQ(ErrorOf(value),
            "settings: there is no setting 'retry_cuont'; did you mean 'retry_count'?");
}

TEST(Definition, LargeNumbersAreTaken) {
  const Definition definition = ParseDefinition(Make("", R"({"bucket_cache_size": 10737418240,
      "worker_count": 1000, "execution_timeout": 86400, "on_deploy_timeout": 7200,
      "curl_max_allowed_resp_size": 4096})"))
                                    .value();
  EXPECT_EQ(definition.settings.cache_bytes, 10ull << 30);
  EXPECT_EQ(definition.settings.worker_count, 1000u);
  EXPECT_EQ(definition.settings.workers(), 64u);
  EXPECT_EQ(definition.settings.execution_timeout_s, 86400u);
}

TEST(Definition, EmptyNamesAreDefaults) {
  json::Value value = Make(R"("source_scope": "", "source_collection": "",
      "buckets": [{"alias": "a", "bucket_name": "b", "scope_name": "", "access": ""}])");
  value.Set("function_scope", Json(R"({"bucket": "", "scope": ""})"));
  const Definition definition = ParseDefinition(value).value();
  EXPECT_EQ(definition.source.scope, "_default");
  EXPECT_EQ(definition.buckets[0].keyspace.scope, "_default");
  EXPECT_TRUE(definition.buckets[0].writable);
  EXPECT_EQ(definition.Location(), "f");
}

TEST(Definition, SettingsOfFailures) {
  EXPECT_EQ(SettingError(R"({"retry_count": -1})"),
            "settings.retry_count: expected a whole number from 0 to 1000, got -1");
  EXPECT_EQ(SettingError(R"({"retry_backoff": 0.5})"),
            "settings.retry_backoff: expected a number from 1 to 100, got 0.5");
  EXPECT_EQ(SettingError(R"({"retry_jitter": "some"})"),
            "settings.retry_jitter: expected a number from 0 to 1, got string");
  EXPECT_EQ(SettingError(R"({"retry_on": ["exception", "curl"]})"),
            "settings.retry_on: expected exception, timeout, memory, missing, unreadable, commit, "
            "or the name of an "
            "error's class such as CurlError, got 'curl'");
  const Definition definition = ParseDefinition(Make("", R"({
      "retry_count": 3, "retry_delay": 50, "retry_backoff": 1.5, "retry_max_delay": 500,
      "retry_jitter": 0, "retry_on": ["timeout", "CurlError"], "max_failures": 7})"))
                                    .value();
  EXPECT_EQ(definition.settings.retry, (failure::RetryPolicy{.count = 3,
                                                             .delay_ms = 50,
                                                             .backoff = 1.5,
                                                             .max_delay_ms = 500,
                                                             .jitter = 0,
                                                             .on = {"timeout", "CurlError"}}));
  EXPECT_EQ(definition.settings.max_failures, 7u);
  const json::Value printed = PrintDefinition(definition, Secrets::kShown);
  const Definition again = ParseDefinition(printed).value();
  EXPECT_EQ(again.settings.retry, definition.settings.retry);
  EXPECT_EQ(again.settings.max_failures, 7u);
  EXPECT_TRUE(OnlyDynamicChanges(Settings(), ParseDefinition(Make("", R"({
      "retry_count": 3, "max_failures": 9})"))
                                                 ->settings));
  // Couchbase does not know them: definitions without them can be taken back there.
  const json::Value plain = PrintDefinition(ParseDefinition(Make("")).value(), Secrets::kShown);
  EXPECT_TRUE(plain["settings"]["retry_count"].is_missing());
  EXPECT_TRUE(plain["settings"]["max_failures"].is_missing());
}

TEST(Definition, SomeSettingsMayChangeWhileItRuns) {
  Settings from;
  Settings to;
  ASSERT_TRUE(ParseSettings(Json(R"({"description": "x", "log_level": "TRACE"})"), &to).ok());
  EXPECT_TRUE(OnlyDynamicChanges(from, to));
  ASSERT_TRUE(ParseSettings(Json(R"({"worker_count": 3})"), &to).ok());
  EXPECT_FALSE(OnlyDynamicChanges(from, to));
}

TEST(Definition, BindingsHaveNamesOfTheirOwn) {
  EXPECT_EQ(AliasError("dst_1$"), "");
  EXPECT_NE(AliasError("1x").find("JavaScript identifier"), std::string::npos);
  EXPECT_NE(AliasError("a-b").find("JavaScript identifier"), std::string::npos);
  EXPECT_NE(AliasError(std::string(65, 'a')).find("at most 64"), std::string::npos);
  EXPECT_NE(AliasError("function").find("word of JavaScript"), std::string::npos);
  for (const char* name : {"JSON", "KVError", "log", "curl", "createTimer", "N1QL", "crc64"}) {
    EXPECT_NE(AliasError(name).find("name of a built-in"), std::string::npos) << name;
  }
  EXPECT_NE(AliasError("Select").find("word of SQL++"), std::string::npos);
  EXPECT_EQ(ErrorOf(Make(R"("buckets": [{"alias": "a", "bucket_name": "b"}],
                            "constants": [{"value": "a", "literal": "1"}])")),
            "depcfg.constants[0]: two bindings can't have the same name, got 'a'");
}

TEST(Definition, TheSourceIsNotTheMetadataKeyspace) {
  const auto parsed = ParseDefinition(Json(R"({"appname": "f", "appcode": "",
               "depcfg": {"source_bucket": "s", "metadata_bucket": "s"}})"));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().id(), "function.same_keyspace");
  EXPECT_EQ(ErrorOf(Make(R"("metadata_collection": "c")")), "");
}

TEST(Definition, AScopeIsPartOfTheLocation) {
  json::Value value = Make("");
  EXPECT_EQ(ParseDefinition(value)->Location(), "f");
  value.Set("function_scope", Json(R"({"bucket": "b", "scope": "s"})"));
  EXPECT_EQ(ParseDefinition(value)->Location(), "b/s/f");
  value.Set("function_scope", Json(R"({"bucket": "b"})"));
  EXPECT_NE(ErrorOf(value), "");
}

TEST(Definition, SecretsAreMaskedAndKept) {
  const json::Value value = Make(
      R"("curl": [{"value": "api", "hostname": "http://h", "auth_type": "basic",
                   "username": "u", "password": "secret"}])");
  const Definition stored = ParseDefinition(value).value();
  const json::Value masked = PrintDefinition(stored, Secrets::kMasked);
  EXPECT_EQ(masked["depcfg"]["curl"][0]["password"], json::Value("*****"));
  EXPECT_EQ(masked["depcfg"]["curl"][0]["bearer_key"], json::Value(""));

  Definition back = ParseDefinition(masked).value();
  EXPECT_EQ(CheckSecrets(back).id(), "function.secret_missing");
  KeepSecrets(stored, &back);
  EXPECT_EQ(back.urls[0].password, "secret");
  EXPECT_TRUE(CheckSecrets(back).ok());

  Definition elsewhere = ParseDefinition(masked).value();
  elsewhere.urls[0].hostname = "http://evil";
  KeepSecrets(stored, &elsewhere);
  EXPECT_EQ(elsewhere.urls[0].password, "*****");
}

}  // namespace
}  // namespace sluice::function
