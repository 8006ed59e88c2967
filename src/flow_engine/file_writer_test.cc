#include "flow_engine/file_writer.h"

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "db/test_database.h"

namespace sluice::flow_engine {
namespace {

namespace fs = std::filesystem;
using Mode = flow::Files::Mode;

class FileWriterTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    root_ = directory_ / "files";
    fs::create_directories(root_);
    app_.files = std::make_unique<BundleFiles>(app_.bundle, std::vector<std::string>{root_});
    writer_ = std::make_unique<FileWriter>(*database_);
  }

  StepFile File(const std::string& name, std::optional<std::string> bytes,
                Mode mode = Mode::kReplace) const {
    return {.flow = "f", .path = root_ + "/" + name, .bytes = std::move(bytes), .mode = mode};
  }
  std::string Read(const std::string& name) const {
    const auto text = ReadFile(root_ + "/" + name, 1 << 20);
    return text ? *text : "(none)";
  }
  // As the commit of a step does it.
  void Store(const std::vector<StepFile>& files) {
    db::Commit commit;
    commit.shard = database_->ShardOfKey("run");
    commit.rows.push_back(RunRow(FilesKey("run"), EncodeFiles(files)));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  std::vector<StepFile> Stored() const {
    std::string row;
    EXPECT_TRUE(*database_->rows().Get(db::RowFamily::kRun, database_->ShardOfKey("run"),
                                       FilesKey("run"), &row));
    return *DecodeFiles(row);
  }

  std::string root_;
  App app_;
  std::unique_ptr<FileWriter> writer_;
};

TEST_F(FileWriterTest, WritesAppendsAndRemoves) {
  std::ofstream(root_ + "/old") << "old";
  writer_->Write(app_, "run",
                 {File("deep/new", "x"), File("log", "1", Mode::kAppend), File("old", std::nullopt),
                  File("log", "2", Mode::kAppend), File("../outside", "y")});
  EXPECT_EQ(Read("deep/new"), "x");
  EXPECT_EQ(Read("log"), "12");
  EXPECT_EQ(Read("old"), "(none)");
  EXPECT_FALSE(fs::exists(root_ + "/../outside"));
}

TEST_F(FileWriterTest, TheRowSaysWhereBytesAreAppended) {
  std::ofstream(root_ + "/log") << "0123";
  const std::vector<StepFile> files = {File("log", "ab", Mode::kAppend), File("new", "n"),
                                       File("new", "m", Mode::kAppend)};
  Store(files);
  writer_->WriteOnce(app_, "run", files);
  EXPECT_EQ(Read("log"), "0123ab");
  EXPECT_EQ(Read("new"), "nm");
  const std::vector<StepFile> stored = Stored();
  EXPECT_EQ(stored[0].at, 4u);
  EXPECT_EQ(stored[1].at, std::nullopt);
  EXPECT_EQ(stored[2].at, 1u);
  // After a crash nothing changes, whatever others have appended since.
  std::ofstream(root_ + "/log", std::ios::app) << "cd";
  writer_->WriteOnce(app_, "run", stored);
  EXPECT_EQ(Read("log"), "0123abcd");
  EXPECT_EQ(Read("new"), "nm");
}

TEST_F(FileWriterTest, ACrashInBetweenIsMadeGood) {
  std::vector<StepFile> files = {File("log", "abc", Mode::kAppend)};
  files[0].at = 3;
  for (const auto& [before, after] :
       {std::pair("xxx", "xxxabc"), std::pair("xxxa", "xxxabc"), std::pair("xxxabc", "xxxabc"),
        std::pair("xxxyyyabc", "xxxyyyabc"), std::pair("xxxyyy", "xxxyyyabc"),
        std::pair("", "abc")}) {
    std::ofstream(root_ + "/log") << before;
    writer_->WriteOnce(app_, "run", files);
    EXPECT_EQ(Read("log"), after) << before;
  }
}

// Two owners of a run: one of them appends.
TEST_F(FileWriterTest, AnotherOwnerHasBegunToAppend) {
  const std::vector<StepFile> files = {File("log", "abc", Mode::kAppend)};
  Store(files);
  writer_->WriteOnce(app_, "run", files);
  writer_->WriteOnce(app_, "run", files);
  EXPECT_EQ(Read("log"), "abc");
}

}  // namespace
}  // namespace sluice::flow_engine
