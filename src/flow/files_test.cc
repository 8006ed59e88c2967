#include "flow/files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/disk_file.h"
#include "base/file.h"
#include "flow/flow_list.h"

namespace sluice::flow {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sluice-files-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    for (const char* directory : {"allowed", "app/resources", "app/flows", "outside"}) {
      fs::create_directories(root_ / directory);
    }
    Put("allowed/a.txt", "a");
    Put("outside/secret.txt", "secret");
    Put("app/resources/r.txt", "r");
    Put("app/flows.yaml", "list");
    files_ = std::make_unique<DirectoryFiles>(std::vector<std::string>{At("allowed")},
                                              At("app/resources"));
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string At(std::string_view path) const { return (root_ / path).string(); }
  void Put(std::string_view path, std::string_view text) { std::ofstream(At(path)) << text; }
  std::string Read(Files::Area area, const std::string& path) const {
    const auto text = files_->Read(area, path);
    return text ? *text : text.error().id();
  }

  fs::path root_;
  std::unique_ptr<DirectoryFiles> files_;
};

TEST_F(FilesTest, ReadsOnlyWhatIsInside) {
  EXPECT_EQ(Read(Files::Area::kFile, At("allowed/a.txt")), "a");
  EXPECT_EQ(Read(Files::Area::kFile, At("allowed/a.txt").substr(1)), "a");  // always absolute
  EXPECT_EQ(Read(Files::Area::kFile, At("allowed/none.txt")), "file.unreadable");
  EXPECT_EQ(Read(Files::Area::kFile, At("outside/secret.txt")), "flow.file_outside");
  EXPECT_EQ(Read(Files::Area::kFile, At("allowed/../outside/secret.txt")), "flow.file_outside");
  EXPECT_EQ(Read(Files::Area::kFile, At("allowed2/x")), "flow.file_outside");
  EXPECT_EQ(Read(Files::Area::kResource, "/r.txt"), "r");
  EXPECT_EQ(Read(Files::Area::kResource, "r.txt"), "r");
  EXPECT_EQ(Read(Files::Area::kResource, "../flows.yaml"), "flow.file_outside");
}

TEST_F(FilesTest, ALinkThatLeadsOutIsOutside) {
  fs::create_symlink(At("outside"), At("allowed/link"));
  fs::create_symlink(At("outside/secret.txt"), At("allowed/file"));
  fs::create_symlink(At("allowed/a.txt"), At("allowed/inner"));
  EXPECT_EQ(Read(Files::Area::kFile, At("allowed/link/secret.txt")), "flow.file_outside");
  EXPECT_EQ(Read(Files::Area::kFile, At("allowed/file")), "flow.file_outside");
  EXPECT_EQ(Read(Files::Area::kFile, At("allowed/inner")), "a");
  EXPECT_EQ(files_->Write(At("allowed/link/new.txt"), "x", Files::Mode::kReplace).id(),
            "flow.file_outside");
  EXPECT_FALSE(fs::exists(At("outside/new.txt")));
  // Also one to what is not there yet.
  fs::create_symlink(At("outside/made.txt"), At("allowed/dangling"));
  fs::create_symlink(At("outside/made"), At("allowed/nowhere"));
  for (const char* const path : {"allowed/dangling", "allowed/nowhere/x"}) {
    EXPECT_EQ(files_->Write(At(path), "x", Files::Mode::kReplace).id(), "flow.file_outside");
  }
  EXPECT_FALSE(fs::exists(At("outside/made.txt")));
  EXPECT_FALSE(fs::exists(At("outside/made")));
}

TEST_F(FilesTest, APipeHoldsNobodyUp) {
  ASSERT_EQ(mkfifo(At("allowed/pipe").c_str(), 0600), 0);
  EXPECT_EQ(Read(Files::Area::kFile, At("allowed/pipe")), "file.unreadable");
  EXPECT_EQ(files_->Write(At("allowed/pipe"), "x", Files::Mode::kAppend).id(),
            "flow.file_unwritable");
  EXPECT_FALSE(DiskFile::Open(At("allowed/pipe")));
}

TEST_F(FilesTest, WritesAppendsAndRemoves) {
  const std::string path = At("allowed/deep/er/x.txt");
  EXPECT_TRUE(files_->Write(path, "one", Files::Mode::kReplace).ok());
  EXPECT_TRUE(files_->Write(path, "two", Files::Mode::kAppend).ok());
  EXPECT_EQ(*ReadFile(path, 100), "onetwo");
  EXPECT_TRUE(files_->Write(path, "new", Files::Mode::kReplace).ok());
  EXPECT_EQ(*ReadFile(path, 100), "new");
  EXPECT_TRUE(files_->Remove(path).ok());
  EXPECT_TRUE(files_->Remove(path).ok());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(files_->Write(At("allowed/deep"), "x", Files::Mode::kReplace).id(),
            "flow.file_unwritable");
  EXPECT_EQ(files_->Remove(At("outside/secret.txt")).id(), "flow.file_outside");
}

TEST_F(FilesTest, NothingIsAllowedUnlessNamed) {
  const DirectoryFiles none({}, "");
  EXPECT_EQ(none.Check(Files::Area::kFile, At("allowed/a.txt")).id(), "flow.file_outside");
  EXPECT_EQ(none.Check(Files::Area::kResource, "r.txt").id(), "flow.file_outside");
}

TEST_F(FilesTest, LocationsAreResourcesTheAppAndFiles) {
  const ReadLocation read = AppLocations(At("app"), *files_);
  EXPECT_EQ(*read("classpath:/r.txt"), "r");
  EXPECT_EQ(*read("classpath:/flows.yaml"), "list");
  EXPECT_EQ(*read("file:" + At("allowed/a.txt")), "a");
  EXPECT_EQ(read("file:" + At("outside/secret.txt")).error().id(), "flow.file_outside");
  EXPECT_EQ(read("classpath:/../outside/secret.txt").error().id(), "flow.file_outside");
  EXPECT_EQ(read("/r.txt").error().id(), "flow.bad_location");
}

}  // namespace
}  // namespace sluice::flow
