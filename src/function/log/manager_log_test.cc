// A function's log through the manager: levels, restarts, deletion.
#include "function/test_manager.h"

namespace sluice::function {
namespace {

using ManagerLogTest = ManagerTest;

constexpr char kLogs[] =
    "function OnUpdate(doc, meta) {\n  log('saw', meta.id);\n"
    "  if (doc === 2) throw new Error('two');\n}";

TEST_F(ManagerLogTest, IsThereAfterARestartAndGoesWithTheFunction) {
  Deploy(kLogs);
  Put("a", "1");
  Settle();
  Close();
  Open();
  EXPECT_EQ(LogText(), "\"saw\" \"a\" \n");
  const std::string record = manager_->Log("f", 1 << 20)->front();
  EXPECT_NE(record.find(" [INFO] \"saw\" \"a\" "), std::string::npos) << record;
  const auto files = directory_ / "data/logs/functions";
  EXPECT_TRUE(std::filesystem::exists(files / "f.log"));
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  ASSERT_TRUE(manager_->Remove("f").ok());
  EXPECT_TRUE(std::filesystem::is_empty(files));
  ASSERT_TRUE(manager_->Store(Function(kLogs)).ok());
  EXPECT_EQ(LogText(), "");
}

TEST_F(ManagerLogTest, FailuresAreErrorsAndTheLevelCanChangeWhileItRuns) {
  Deploy(kLogs);
  Definition definition = *manager_->Find("f");
  definition.settings.log.level = LogLevel::kError;
  ASSERT_TRUE(manager_->Store(definition).ok());
  Put("a", "2");
  Settle();
  const std::vector<std::string> records = *manager_->Log("f", 1 << 20);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_NE(records[0].find(" [ERROR] OnUpdate of document 'a' failed: Error: two\n"),
            std::string::npos)
      << records[0];
}

TEST_F(ManagerLogTest, SizesCantChangeWhileItRunsButWhenPaused) {
  Deploy(kLogs);
  Definition definition = *manager_->Find("f");
  definition.settings.log.files = {.max_bytes = 1024, .max_files = 2};
  EXPECT_EQ(manager_->Store(definition).id(), "function.not_undeployed");
  ASSERT_TRUE(manager_->Pause("f").ok());
  ASSERT_TRUE(manager_->Store(definition).ok());
  ASSERT_TRUE(manager_->Resume("f").ok());
  for (int i = 0; i < 100; ++i) Put("k" + std::to_string(i), "1");
  Settle();
  EXPECT_GT(LogLines().size(), 10u);
  const auto files = directory_ / "data/logs/functions";
  EXPECT_TRUE(std::filesystem::exists(files / "f.log.1"));
  EXPECT_FALSE(std::filesystem::exists(files / "f.log.2"));
  EXPECT_LE(std::filesystem::file_size(files / "f.log"), 1024u);
}

TEST_F(ManagerLogTest, AFunctionRunsWhenItsLogCantBeWritten) {
  std::filesystem::create_directories(directory_ / "data/logs/functions/f.log");
  Deploy("function OnUpdate(doc, meta) { log('saw', meta.id); dst[meta.id] = doc; }");
  Put("a", "1");
  Settle();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(LogText(), "\"saw\" \"a\" \n");
  EXPECT_GT(Count("log", "write_failures"), 0u);
  EXPECT_EQ(Count("log", "lines_lost"), 0u);
}

}  // namespace
}  // namespace sluice::function
