#include "server/config.h"

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "server/config_print.h"
#include "server/settings.h"

namespace sluice::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Problems(const ConfigResult& result) {
  std::vector<std::string> texts;
  for (const Status& problem : result.problems) texts.push_back(problem.ToString());
  return texts;
}

ConfigResult LoadText(std::string_view yaml, ConfigSources sources = {}) {
  sources.file = "s.yaml";
  return LoadConfigText(sources, yaml);
}

TEST(Config, DefaultsAreValid) {
  const ConfigResult result = LoadConfig({});
  EXPECT_THAT(Problems(result), IsEmpty());
  const Config& config = result.loaded.config;
  EXPECT_EQ(config.listen_http, "127.0.0.1:8091");
  EXPECT_EQ(config.listen_eventing, "127.0.0.1:8096");
  EXPECT_EQ(config.listen_flows, "127.0.0.1:8100");
  EXPECT_EQ(config.storage_durability, "sync");
  EXPECT_EQ(config.storage_shards, 1u);
  EXPECT_EQ(config.http_max_body_bytes, 24u << 20);
}

TEST(Config, LaterSourcesWin) {
  ConfigSources sources;
  sources.defaults = {{"log.format", "text"}, {"log.level", "warn"}};
  sources.environment = {{"SLUICE_STORAGE_CACHE", "8MiB"},
                         {"SLUICE_LOG_LEVEL", "error"},
                         {"SLUICE_TOKEN", "for the client"},
                         {"PATH", "/bin"}};
  sources.flags = {{"log.level", "debug"}};
  const ConfigResult result =
      LoadText("storage: {cache: 4MiB, write_buffer: 2MiB}\nlog:\n  level: info\n", sources);
  EXPECT_THAT(Problems(result), IsEmpty());
  const Config& config = result.loaded.config;
  EXPECT_EQ(config.log_format, "text");                    // --dev
  EXPECT_EQ(config.storage_write_buffer_bytes, 2u << 20);  // file
  EXPECT_EQ(config.storage_cache_bytes, 8u << 20);         // environment over file
  EXPECT_EQ(config.log_level, "debug");                    // flag over all
  const auto& values = result.loaded.values;
  EXPECT_EQ(values.at("storage.write_buffer").source, "s.yaml:1:38");
  EXPECT_EQ(values.at("storage.cache").source, "SLUICE_STORAGE_CACHE");
  EXPECT_EQ(values.at("log.level").source, "--log-level");
}

TEST(Config, AllProblemsAtOnceWithTheirPlaces) {
  EXPECT_THAT(
      Problems(LoadText("storage:\n  cahce: 1MiB\n  durability: always\n  shards: 1.5\n"
                        "logs:\n  level: info\nhttp:\n  idle_timeout: 10\n  max_body: [1]\n")),
      ElementsAre(
          "config.unknown_key: unknown setting 'cahce' in section 'storage'; did you mean 'cache'? "
          "(s.yaml:2:3)",
          "config.invalid_value: storage.durability: expected one of sync, interval, none, found "
          "'always' (s.yaml:3:15)",
          "config.invalid_value: storage.shards: expected a whole number from 1 to 256, found "
          "'1.5' (s.yaml:4:11)",
          "config.unknown_key: unknown section 'logs'; did you mean 'log'? (s.yaml:5:1)",
          "config.invalid_value: http.idle_timeout: expected a duration from 100ms to 1d, found "
          "'10' (s.yaml:8:17)",
          "config.invalid_value: http.max_body: expected a size from 1KiB to 1GiB, found a list "
          "(s.yaml:9:13)"));
}

TEST(Config, ShapeProblems) {
  EXPECT_THAT(Problems(LoadText("[1]")),
              ElementsAre("config.invalid_value: expected a map of sections, found a list "
                          "(s.yaml:1:1)"));
  EXPECT_THAT(Problems(LoadText("log: loud")),
              ElementsAre("config.invalid_value: log: expected a map of settings, found a value "
                          "(s.yaml:1:6)"));
  EXPECT_THAT(Problems(LoadText("log:\ndata:\n")), IsEmpty());
  EXPECT_EQ(LoadText("a: [").problems.at(0).id(), "yaml.invalid");
  EXPECT_EQ(LoadConfig({.file = "/nowhere/s.yaml"}).problems.at(0).id(), "file.unreadable");
}

TEST(Config, EnvironmentProblems) {
  ConfigSources sources;
  sources.environment = {{"SLUICE_LOG_LEVLE", "info"}, {"SLUICE_STORAGE_SHARDS", "0"}};
  sources.flags = {{"http.threads", "many"}};
  EXPECT_THAT(
      Problems(LoadConfig(sources)),
      ElementsAre("config.unknown_key: unknown environment variable SLUICE_LOG_LEVLE; did you mean "
                  "'SLUICE_LOG_LEVEL'?",
                  "config.invalid_value: SLUICE_STORAGE_SHARDS: storage.shards: expected a whole "
                  "number from 1 to 256, found '0'",
                  "config.invalid_value: --http-threads: http.threads: expected a whole number "
                  "from 0 to 1024, found 'many'"));
}

TEST(Config, TlsNeedsBothFiles) {
  EXPECT_THAT(Problems(LoadText("tls: {key: k.pem}")),
              ElementsAre("config.invalid_value: tls.certificate and tls.key: expected both or "
                          "neither, found only tls.key"));
}

TEST(Config, Addresses) {
  EXPECT_EQ(ParseAddress("127.0.0.1:8091")->host, "127.0.0.1");
  EXPECT_EQ(ParseAddress("[::1]:0")->host, "::1");
  EXPECT_EQ(ParseAddress("db.example:65535")->port, 65535);
  for (const char* wrong :
       {"", "8091", "localhost", "::1:80", "h:65536", "h:-1", "h:80x", ":80", "[]:80", "a b:80"}) {
    EXPECT_FALSE(ParseAddress(wrong)) << wrong;
  }
  EXPECT_TRUE(IsLoopback(*ParseAddress("127.1.2.3:1")));
  EXPECT_TRUE(IsLoopback(*ParseAddress("[::1]:1")));
  EXPECT_TRUE(IsLoopback(*ParseAddress("localhost:1")));
  EXPECT_FALSE(IsLoopback(*ParseAddress("0.0.0.0:1")));
  EXPECT_FALSE(IsLoopback(*ParseAddress("[::]:1")));
  EXPECT_FALSE(IsLoopback(*ParseAddress("127.0.0.1.example.com:1")));
}

TEST(Config, NamesFlagsAndVariablesAreUnique) {
  std::set<std::string> seen;
  for (const Setting& setting : Settings()) {
    EXPECT_TRUE(seen.insert(std::string(setting.name)).second) << setting.name;
    EXPECT_TRUE(seen.insert(setting.Flag()).second) << setting.Flag();
    EXPECT_TRUE(seen.insert(setting.Environment()).second) << setting.Environment();
    EXPECT_FALSE(IsClientVariable(setting.Environment()));
    const bool has_section = std::ranges::any_of(
        Sections(), [&](const SectionHelp& s) { return s.name == setting.section(); });
    EXPECT_TRUE(has_section) << setting.name;
  }
}

TEST(Config, PrintedYamlReadsBack) {
  ConfigSources sources;
  sources.flags = {{"data.directory", "a \"b\" # c"}, {"http.idle_timeout", "120s"}};
  const ConfigResult first = LoadConfig(sources);
  const std::string yaml = ConfigAsYaml(first.loaded);
  EXPECT_NE(yaml.find("  idle_timeout: \"2m\"  # --http-idle-timeout\n"), std::string::npos);
  const ConfigResult second = LoadText(yaml);
  EXPECT_THAT(Problems(second), IsEmpty());
  EXPECT_EQ(second.loaded.config.data_directory, "a \"b\" # c");
  for (const auto& [name, value] : first.loaded.values) {
    EXPECT_EQ(second.loaded.values.at(name).text, value.text) << name;
  }
}

TEST(Config, ReferencePageIsCurrent) {
  EXPECT_EQ(ReadFile("docs/reference/config.md", 1 << 20).value_or("missing"), ConfigAsMarkdown())
      << "run: build/sluice config docs > docs/reference/config.md";
}

}  // namespace
}  // namespace sluice::server
