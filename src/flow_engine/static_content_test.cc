// Static content of a directory on disk. That of an app's resources is in
// tests/http/flow_rest.test.
#include "flow_engine/static_content.h"

#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "flow_engine/test_host.h"

namespace sluice::flow_engine {
namespace {

namespace fs = std::filesystem;

class StaticContentTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    root_ = fs::temp_directory_path() / ("sluice-static-" + NewUuid());
    for (const char* directory : {"open/www/docs", "open/other"}) {
      fs::create_directories(root_ / directory);
    }
    for (const char* file : {"open/www/index.html", "open/www/a.css", "open/www/docs/index.html",
                             "open/other/secret.html", "open/www/.hidden"}) {
      std::ofstream(root_ / file) << file;
    }
    fs::create_symlink(root_ / "open/other", root_ / "open/www/link");
  }
  void TearDown() override {
    HostTest::TearDown();
    fs::remove_all(root_);
  }

  std::shared_ptr<const App> AppOf(const fs::path& folder, flow::Problems* problems) {
    const Services services{{*database_, *engine_, MachineClock()},
                            *engine_,
                            *procedures_,
                            {(root_ / "open").string()}};
    return MakeApp(services,
                   {{{"rest.yaml", "static-content: {folder: 'file:" + folder.string() + "'}"}}},
                   "", Missing::kIsWrong, problems);
  }
  // Where it is below the root, and its type.
  std::string Find(const App& app, std::string_view path) {
    const auto file = FindStatic(app, path);
    if (!file) return "";
    return file->path.substr(fs::canonical(root_).string().size()) + " " + file->content_type;
  }

  fs::path root_;
};

TEST_F(StaticContentTest, FilesOfADirectory) {
  flow::Problems problems;
  const auto app = AppOf(root_ / "open/www", &problems);
  ASSERT_NE(app, nullptr);
  EXPECT_EQ(Find(*app, "/"), "/open/www/index.html text/html");
  EXPECT_EQ(Find(*app, "/index"), "/open/www/index.html text/html");
  EXPECT_EQ(Find(*app, "/a.css"), "/open/www/a.css text/css");
  EXPECT_EQ(Find(*app, "/docs/"), "/open/www/docs/index.html text/html");
  for (const char* path : {"/docs", "/nothing", "/../other/secret.html", "/docs/../../other/secret",
                           "/link/secret.html", "/.hidden", "/docs\\..", "//etc/passwd", ""}) {
    EXPECT_EQ(Find(*app, path), "") << path;
  }
}

TEST_F(StaticContentTest, TheDirectoryMustBeAllowed) {
  flow::Problems problems;
  EXPECT_EQ(AppOf("/etc", &problems), nullptr);
  ASSERT_EQ(problems.errors(), 1U);
  EXPECT_EQ(problems.Sorted()[0].status.id(), "flow.file_outside");
}

}  // namespace
}  // namespace sluice::flow_engine
