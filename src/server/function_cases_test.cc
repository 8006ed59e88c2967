// Plays every test file of tests/functions and of the examples, as `sluice fn test` does.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "function/test_v8_flags.h"
#include "server/function_trial.h"

namespace sluice::server {
namespace {

namespace fs = std::filesystem;

// tests/functions/CASE/case.json, examples/APP/tests/NAME.json
std::vector<std::string> Files() {
  std::vector<std::string> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator("tests/functions", missing)) {
    if (entry.is_directory()) files.push_back((entry.path() / "case.json").string());
  }
  for (const auto& app : fs::directory_iterator("examples", missing)) {
    for (const auto& entry : fs::directory_iterator(app.path() / "tests", missing)) {
      // Directories are cases of flows.
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  return files;
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

class FunctionCase : public ::testing::TestWithParam<std::string> {};

TEST_P(FunctionCase, DoesWhatItsFileSays) {
  const TrialOutcome outcome = RunTrialFile(GetParam());
  for (const Status& status : outcome.unusable) ADD_FAILURE() << status.ToString();
  EXPECT_TRUE(outcome.report.refused.ok()) << outcome.report.refused.ToString();
  for (const auto& problem : outcome.report.problems) {
    ADD_FAILURE() << problem.where << ": " << problem.message;
  }
}

TEST(FunctionCases, AreFound) { EXPECT_GE(Files().size(), 48u); }

// The commands in an example's README.md are run by docs_test.
TEST(Examples, HaveTestsAndAPageAndAreListed) {
  const Result<std::string> list = ReadFile("examples/README.md", 1 << 20);
  ASSERT_TRUE(list);
  size_t examples = 0;
  for (const auto& app : fs::directory_iterator("examples")) {
    if (!app.is_directory()) continue;
    ++examples;
    const std::string name = app.path().filename().string();
    EXPECT_NE(list->find("(" + name + "/README.md)"), std::string::npos) << name;
    EXPECT_TRUE(fs::exists(app.path() / "README.md")) << name;
    if (!fs::exists(app.path() / "functions")) continue;  // its page is its test
    EXPECT_TRUE(fs::exists(app.path() / "tests") && !fs::is_empty(app.path() / "tests")) << name;
  }
  EXPECT_GE(examples, 7u);
}

INSTANTIATE_TEST_SUITE_P(Files, FunctionCase, ::testing::ValuesIn(Files()), NameOf);

}  // namespace
}  // namespace sluice::server
