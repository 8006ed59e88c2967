// Runs the cases of tests/functions: a directory each, with function.js and case.json. What the
// members of case.json mean is in tests/functions/README.md.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/base64.h"
#include "function/test_manager.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::function {
namespace {

namespace fs = std::filesystem;
using json::Value;

constexpr char kDirectory[] = "tests/functions";

std::string ReadText(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> Cases() {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(kDirectory, missing)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

class FunctionCase : public ManagerTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    const fs::path directory = fs::path(kDirectory) / GetParam();
    const Result<Value> parsed = json::Parse(ReadText(directory / "case.json"));
    ASSERT_TRUE(parsed) << parsed.error().ToString();
    case_ = *parsed;
    for (const json::Field& member : case_.fields()) {
      ASSERT_TRUE(std::ranges::count(kMembers, member.name())) << "unknown: " << member.name();
    }
    code_ = ReadText(directory / "function.js");
    ASSERT_FALSE(code_.empty());
  }

  Value Definition() const {
    Value depcfg = Value::Object({{"source_bucket", "src"}, {"metadata_bucket", "meta"}});
    const Value& bindings = case_["bindings"];
    if (bindings.is_missing()) {
      depcfg.Set("buckets", *json::Parse(R"([{"alias":"src","bucket_name":"src","access":"rw"},
                                             {"alias":"dst","bucket_name":"dst","access":"rw"}])"));
    }
    for (const json::Field& field : bindings.fields()) depcfg.Set(field.name(), field.value);
    Value definition =
        Value::Object({{"appname", "f"}, {"appcode", code_}, {"depcfg", std::move(depcfg)}});
    if (!case_["settings"].is_missing()) definition.Set("settings", case_["settings"]);
    return definition;
  }

  void Store(const std::string& bucket, std::string_view key, const Value& value) {
    db::Document document{.body = json::ToText(value)};
    if (const Value& base64 = value["$base64"]; base64.is_string()) {
      document.body = *FromBase64(base64.AsString());
      document.datatype = db::Datatype::kBinary;
    }
    db::Commit commit;
    commit.writes.push_back(db::PutWrite(*database_->Resolve({.bucket = bucket}), std::string(key),
                                         std::move(document)));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }

  // Each input is handled before the next one comes, so that logs have one order.
  void Feed() {
    for (const Value& step : case_["input"].items()) {
      const std::string key(step["key"].AsString());
      if (step["value"].is_missing()) {
        Delete(key);
      } else {
        Store("src", key, step["value"]);
      }
      Settle();
    }
  }

  Value Contents(const std::string& bucket) {
    Value contents = Value::EmptyObject();
    const Status scanned = database_->Scan(
        *database_->Resolve({.bucket = bucket}), {},
        [&](std::string_view key, const db::DocumentView& document) {
          contents.Set(key, document.datatype == db::Datatype::kJson
                                ? *json::Parse(document.body)
                                : Value::Object({{"$base64", ToBase64(document.body)}}));
          return true;
        });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return contents;
  }

  // Timers may take a moment longer.
  void CheckDocuments() {
    for (const json::Field& bucket : case_["documents"].fields()) {
      const std::string name(bucket.name());
      const std::string expected = json::ToText(bucket.value);
      for (int i = 0; i < 1000 && json::ToText(Contents(name)) != expected; ++i) usleep(10'000);
      EXPECT_EQ(json::ToText(Contents(name)), expected) << "bucket " << name;
    }
  }

  void CheckLog() {
    const std::vector<std::string> lines = *manager_->Log("f");
    const auto& expected = case_["log"].items();
    ASSERT_EQ(lines.size(), expected.size()) << LogText();
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_NE(lines[i].find(expected[i].AsString()), std::string::npos)
          << "expected: " << expected[i].AsString() << "\ngot: " << lines[i];
    }
  }

  void CheckStatistics() {
    const Value statistics = *manager_->StatisticsOf("f");
    for (const json::Field& group : case_["statistics"].fields()) {
      for (const json::Field& count : group.value.fields()) {
        EXPECT_EQ(json::ToText(statistics[group.name()][count.name()]), json::ToText(count.value))
            << group.name() << "." << count.name();
      }
    }
  }

  static constexpr std::string_view kMembers[] = {"about",     "settings", "bindings",
                                                  "before",    "input",    "refused",
                                                  "documents", "log",      "statistics"};
  Value case_;
  std::string code_;
};

TEST_P(FunctionCase, DoesWhatItsDirectorySays) {
  for (const json::Field& bucket : case_["before"].fields()) {
    for (const json::Field& document : bucket.value.fields()) {
      Store(std::string(bucket.name()), document.name(), document.value);
    }
  }
  auto definition = ParseDefinition(Definition());
  ASSERT_TRUE(definition) << definition.error().ToString();
  const Status stored = manager_->Store(std::move(*definition));
  const Status deployed = stored.ok() ? manager_->Deploy("f") : stored;
  if (const Value& refused = case_["refused"]; refused.is_string()) {
    EXPECT_NE(deployed.ToString().find(refused.AsString()), std::string::npos)
        << deployed.ToString();
    return;
  }
  ASSERT_TRUE(deployed.ok()) << deployed.ToString();
  Settle();
  Feed();
  CheckDocuments();
  CheckLog();
  CheckStatistics();
}

TEST(FunctionCases, AreFound) { EXPECT_GE(Cases().size(), 15u) << "in " << kDirectory; }

INSTANTIATE_TEST_SUITE_P(Cases, FunctionCase, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sluice::function
