// Hostile paths: what `file()` and `classpath()` of an app may not reach.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/random.h"
#include "flow_engine/bundle.h"

namespace sluice::flow_engine {
namespace {

namespace fs = std::filesystem;
using Area = flow::Files::Area;
using Mode = flow::Files::Mode;

class BundleFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("sluice-files-" + NewUuid());
    fs::create_directories(root_ / "open");
    fs::create_directories(root_ / "secret");
    std::ofstream(root_ / "open/a.txt") << "open";
    std::ofstream(root_ / "secret/s.txt") << "secret";
    fs::create_symlink(root_ / "secret", root_ / "open/link");
    fs::create_symlink(root_ / "secret/s.txt", root_ / "open/file-link");
    bundle_.files = {{"resources/r.txt", "resource"}, {"tasks/t.js", "code"}};
    files_.emplace(bundle_, std::vector<std::string>{(root_ / "open").string()});
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string Read(Area area, const std::string& path) {
    const auto read = files_->Read(area, path);
    return read ? *read : std::string(read.error().id());
  }
  std::string At(std::string_view path) { return root_.string() + std::string(path); }

  fs::path root_;
  Bundle bundle_;
  std::optional<BundleFiles> files_;
};

TEST_F(BundleFilesTest, FilesStayInTheirDirectories) {
  EXPECT_EQ(Read(Area::kFile, At("/open/a.txt")), "open");
  EXPECT_EQ(Read(Area::kFile, At("/open/./../open/a.txt")), "open");
  for (const char* path :
       {"/secret/s.txt", "/open/../secret/s.txt", "/open/link/s.txt", "/open/file-link",
        "/open/link/../s.txt", "/openly/a.txt", "/open", "/open/.."}) {
    EXPECT_EQ(Read(Area::kFile, At(path)), "flow.file_outside") << path;
    EXPECT_EQ(files_->Write(At(path), "x", Mode::kReplace).id(), "flow.file_outside") << path;
    EXPECT_EQ(files_->Remove(At(path)).id(), "flow.file_outside") << path;
    EXPECT_EQ(files_->Check(Area::kFile, At(path)).id(), "flow.file_outside") << path;
  }
  EXPECT_EQ(Read(Area::kFile, "/etc/passwd"), "flow.file_outside");
  EXPECT_TRUE(files_->Write(At("/open/new/b.txt"), "b", Mode::kReplace).ok());
  EXPECT_EQ(Read(Area::kFile, At("/open/new/b.txt")), "b");
  EXPECT_TRUE(fs::exists(root_ / "secret/s.txt"));
}

TEST_F(BundleFilesTest, ResourcesAreTheBundles) {
  EXPECT_EQ(Read(Area::kResource, "/r.txt"), "resource");
  for (const char* path : {"tasks/t.js", "/sluice.yaml", "../r.txt", "../tasks/t.js",
                           "/../../etc/passwd", "/etc/passwd", "resources/../r.txt"}) {
    EXPECT_EQ(Read(Area::kResource, path), "file.unreadable") << path;
  }
}

TEST_F(BundleFilesTest, WithoutDirectoriesThereIsNoFile) {
  const BundleFiles none(bundle_, {});
  EXPECT_EQ(none.Read(Area::kFile, At("/open/a.txt")).error().id(), "flow.file_outside");
  EXPECT_EQ(none.Write("/tmp/x", "x", Mode::kReplace).id(), "flow.file_outside");
}

}  // namespace
}  // namespace sluice::flow_engine
