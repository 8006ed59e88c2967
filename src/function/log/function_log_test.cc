#include "function/log/function_log.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"
#include "function/test_progress.h"

namespace sluice::function {
namespace {

namespace fs = std::filesystem;

class FunctionLogTest : public ::testing::Test {
 protected:
  FunctionLogTest() {
    std::string path = (fs::temp_directory_path() / "sluice_function_log_XXXXXX").string();
    CHECK(mkdtemp(path.data()) != nullptr);
    directory_ = path;
    Open();
  }
  ~FunctionLogTest() override {
    Close();
    fs::remove_all(directory_);
  }
  void Open() { Open(clock_); }
  void Open(const Clock& clock) {
    logs_ = std::make_unique<FunctionLogs>(directory_ / "logs", clock, progress_.signal());
    log_ = logs_->Of("f");
  }
  void Close() {
    log_.reset();
    logs_.reset();
  }
  // Texts, the newest first, with blanks between them.
  std::string Texts(size_t max_bytes = 1 << 20) {
    std::string all;
    for (const std::string& record : log_->Read(max_bytes)) {
      all += std::string(TextOfRecord(record)) + " ";
    }
    return all;
  }
  fs::path FileOf(const std::string& name) { return directory_ / "logs" / name; }
  static std::string TextOf(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  FakeClock clock_;         // stands still: the thread writes only at the end
  JumpingClock impatient_;  // the thread writes at once
  Progress progress_;
  fs::path directory_;
  std::unique_ptr<FunctionLogs> logs_;
  std::shared_ptr<FunctionLog> log_;
};

TEST_F(FunctionLogTest, IsThereAfterARestartNewestFirst) {
  log_->Add(LogLevel::kInfo, "one");
  log_->Add(LogLevel::kError, "two");
  Close();
  Open();
  EXPECT_EQ(Texts(), "two one ");
  log_->Add(LogLevel::kInfo, "three");
  EXPECT_EQ(Texts(), "three two one ");
  EXPECT_TRUE(log_->Read(1 << 20)[1].find("[ERROR] two") != std::string::npos);
}

TEST_F(FunctionLogTest, IsWrittenByItself) {
  Close();
  Open(impatient_);
  log_->Add(LogLevel::kInfo, "one");
  progress_.Await([&] { return !TextOf(FileOf("f.log")).empty(); });
  EXPECT_TRUE(TextOf(FileOf("f.log")).ends_with("[INFO] one\n"));
}

TEST_F(FunctionLogTest, LeavesOutWhatIsBelowTheLevel) {
  log_->Configure({.level = LogLevel::kError, .files = {}});
  log_->Add(LogLevel::kInfo, "info");
  log_->Add(LogLevel::kWarning, "warning");
  log_->Add(LogLevel::kError, "error");
  EXPECT_EQ(Texts(), "error ");
  log_->Configure({.level = LogLevel::kTrace, .files = {}});
  log_->Add(LogLevel::kInfo, "info");
  EXPECT_EQ(Texts(), "info error ");
  EXPECT_EQ(log_->lines_lost(), 0u);
}

TEST_F(FunctionLogTest, RotatesAndKeepsSoManyFiles) {
  log_->Configure({.level = LogLevel::kInfo, .files = {.max_bytes = 1024, .max_files = 3}});
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    log_->Add(LogLevel::kInfo, std::to_string(1000 + i));
    if (i % 7 == 0) (void)log_->Read(1);  // writes what waits
    expected.insert(0, std::to_string(1000 + i) + " ");
  }
  const std::string texts = Texts();
  EXPECT_TRUE(expected.starts_with(texts)) << texts;
  EXPECT_GT(texts.size(), 5u * 40) << "more than two files' worth";
  for (const char* name : {"f.log", "f.log.1", "f.log.2"}) {
    ASSERT_TRUE(fs::exists(FileOf(name))) << name;
    EXPECT_LE(fs::file_size(FileOf(name)), 1024u) << name;
  }
  EXPECT_GT(fs::file_size(FileOf("f.log.1")), 900u);
  EXPECT_FALSE(fs::exists(FileOf("f.log.3")));
  // Fewer are wanted: the rest goes when the next file begins.
  log_->Configure({.level = LogLevel::kInfo, .files = {.max_bytes = 1024, .max_files = 1}});
  for (int i = 0; i < 40; ++i) log_->Add(LogLevel::kInfo, "x");
  EXPECT_TRUE(Texts().starts_with("x x x "));
  EXPECT_FALSE(fs::exists(FileOf("f.log.1")));
  EXPECT_FALSE(fs::exists(FileOf("f.log.2")));
}

TEST_F(FunctionLogTest, DoesNotRotateWhenItMayNot) {
  log_->Configure(
      {.level = LogLevel::kInfo, .files = {.max_bytes = 1024, .max_files = 3, .rotates = false}});
  for (int i = 0; i < 100; ++i) log_->Add(LogLevel::kInfo, "x");
  EXPECT_EQ(Texts().size(), 200u);
  EXPECT_GT(fs::file_size(FileOf("f.log")), 1024u);
  EXPECT_FALSE(fs::exists(FileOf("f.log.1")));
}

TEST_F(FunctionLogTest, ReadsWholeRecordsOnly) {
  log_->Add(LogLevel::kInfo, "one");
  log_->Add(LogLevel::kError, "two\n    at f");
  const size_t newest = PrintRecord({0, LogLevel::kError, "two\n    at f"}).size() + 1;
  const size_t both = newest + PrintRecord({0, LogLevel::kInfo, "one"}).size() + 1;
  EXPECT_EQ(Texts(newest - 1), "");
  EXPECT_EQ(Texts(newest), "two\n    at f ");
  EXPECT_EQ(Texts(both - 1), "two\n    at f ");
  EXPECT_EQ(Texts(both), "two\n    at f one ");
}

TEST_F(FunctionLogTest, APartOfALineFromACrashIsNotGluedToTheNext) {
  log_->Add(LogLevel::kInfo, "one");
  Close();
  std::ofstream(FileOf("f.log"), std::ios::app) << "2026-11-16T08:2";
  Open();
  log_->Add(LogLevel::kInfo, "two");
  EXPECT_EQ(Texts(), "two 2026-11-16T08:2 one ");
}

// A file where the directory would be: as root, a directory without rights can be written.
TEST_F(FunctionLogTest, WhatCantBeWrittenIsKeptAndWrittenLater) {
  std::ofstream(directory_ / "logs") << "in the way";
  Close();
  Open(impatient_);
  log_->Add(LogLevel::kInfo, "one");
  EXPECT_TRUE(progress_.Await([&] { return log_->write_failures() > 0; }));
  log_->Add(LogLevel::kInfo, "two");
  EXPECT_EQ(Texts(), "two one ");
  EXPECT_EQ(log_->lines_lost(), 0u);
  fs::remove(directory_ / "logs");
  EXPECT_EQ(Texts(), "two one ");
  Close();
  Open();
  EXPECT_EQ(Texts(), "two one ");
}

TEST_F(FunctionLogTest, OfWhatCantBeWrittenTheNewestIsKeptAndTheLostCounted) {
  fs::create_directories(FileOf("f.log"));
  const std::string line(10'000, 'x');
  for (int i = 0; i < 300; ++i) log_->Add(LogLevel::kInfo, std::to_string(i) + line);
  EXPECT_TRUE(Texts().starts_with("299x"));
  EXPECT_GT(log_->lines_lost(), 150u);
  EXPECT_LT(log_->lines_lost(), 250u);
  EXPECT_GT(log_->write_failures(), 0u);
}

TEST_F(FunctionLogTest, WithoutADirectoryItIsInMemory) {
  FunctionLogs logs("", clock_);
  log_ = logs.Of("f");
  log_->Add(LogLevel::kInfo, "one");
  log_->Add(LogLevel::kInfo, "two");
  EXPECT_EQ(Texts(), "two one ");
  log_.reset();
}

TEST_F(FunctionLogTest, IsRemovedWithItsFunction) {
  log_->Configure({.level = LogLevel::kInfo, .files = {.max_bytes = 1024, .max_files = 9}});
  for (int i = 0; i < 100; ++i) log_->Add(LogLevel::kInfo, "x");
  (void)log_->Read(1);
  ASSERT_TRUE(fs::exists(FileOf("f.log.3")));
  log_->Add(LogLevel::kInfo, "waits");
  log_->Remove();
  log_->Add(LogLevel::kInfo, "too late");
  Close();
  EXPECT_TRUE(fs::is_empty(directory_ / "logs"));
}

TEST_F(FunctionLogTest, FilesOfForgottenFunctionsGo) {
  const std::string other = "b/s/" + std::string(250, 'o');
  for (const std::string& name : {std::string("g"), other}) {
    logs_->Of(name)->Add(LogLevel::kInfo, "x");
  }
  log_->Add(LogLevel::kInfo, "stays");
  Close();
  Open();
  ASSERT_TRUE(fs::exists(FileOf("g.log")));
  logs_->KeepOnly({"f", other});
  EXPECT_FALSE(fs::exists(FileOf("g.log")));
  EXPECT_EQ(Texts(), "stays ");
  EXPECT_EQ(logs_->Of(other)->Read(1 << 20).size(), 1u);
}

TEST(LogFilesTest, NoNameLeadsElsewhere) {
  EXPECT_EQ(LogFiles::SafePath("f-1_A"), "f-1_A");
  EXPECT_EQ(LogFiles::SafePath("b/s/f"), "b%2Fs%2Ff");
  EXPECT_EQ(LogFiles::SafePath("../../etc/passwd"), "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd");
  EXPECT_EQ(LogFiles::SafePath(std::string("a\0b", 3)), "a%00b");
  EXPECT_NE(LogFiles::SafePath("a%2Fb"), LogFiles::SafePath("a/b"));
  const std::string longest = LogFiles::SafePath(std::string(302, '%'));
  for (const fs::path& part : fs::path(longest)) EXPECT_LE(part.string().size(), 200u);
  EXPECT_EQ(longest.find(".."), std::string::npos);
}

}  // namespace
}  // namespace sluice::function
