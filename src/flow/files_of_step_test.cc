#include "flow/files_of_step.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace sluice::flow {
namespace {

// Files by path.
class MapFiles final : public Files {
 public:
  Status Check(Area /*area*/, std::string_view path) const override {
    if (path.starts_with("/in/")) return OkStatus();
    return Error(Code::kForbidden, "flow.file_outside", "{}", path);
  }
  Result<std::string> Read(Area /*area*/, std::string_view path) const override {
    const auto found = files.find(path);
    if (found != files.end()) return found->second;
    return Fail(Code::kNotFound, "file.unreadable", "{}", path);
  }
  Status Write(std::string_view path, std::string_view bytes, Mode mode) const override {
    std::string& file = files[std::string(path)];
    file = mode == Mode::kAppend ? file + std::string(bytes) : std::string(bytes);
    return OkStatus();
  }
  Status Remove(std::string_view path) const override {
    files.erase(std::string(path));
    return OkStatus();
  }

  mutable std::map<std::string, std::string, std::less<>> files;
};

class FilesOfStepTest : public testing::Test {
 protected:
  std::string Read(std::string_view path) const {
    const auto text = step_.Read(Files::Area::kFile, path);
    return text ? *text : std::string(text.error().id());
  }
  void CarryOutAll() {
    for (const Action& action : actions_) {
      EXPECT_TRUE(CarryOut(std::get<WriteFile>(action), files_).ok());
    }
  }

  MapFiles files_;
  Actions actions_;
  const FilesOfStep step_{files_, "flow", &actions_};
};

TEST_F(FilesOfStepTest, WritesNothingUntilTheActionIsCarriedOut) {
  files_.files["/in/a"] = "old";
  EXPECT_TRUE(step_.Write("/in/a", "new", Files::Mode::kReplace).ok());
  EXPECT_TRUE(step_.Remove("/in/b").ok());
  EXPECT_EQ(files_.files["/in/a"], "old");
  ASSERT_EQ(actions_.size(), 2u);
  EXPECT_EQ(std::get<WriteFile>(actions_[0]).flow, "flow");
  CarryOutAll();
  EXPECT_EQ(files_.files["/in/a"], "new");
}

TEST_F(FilesOfStepTest, AStepReadsWhatItHasWritten) {
  files_.files["/in/log"] = "1";
  files_.files["/in/gone"] = "x";
  EXPECT_TRUE(step_.Write("/in/log", "2", Files::Mode::kAppend).ok());
  EXPECT_TRUE(step_.Write("/in/./log", "3", Files::Mode::kAppend).ok());
  EXPECT_TRUE(step_.Remove("/in/gone").ok());
  EXPECT_TRUE(step_.Write("/in/fresh", "f", Files::Mode::kAppend).ok());
  EXPECT_EQ(Read("/in/log"), "123");
  EXPECT_EQ(Read("/in/gone"), "file.unreadable");
  EXPECT_EQ(Read("/in/fresh"), "f");
  EXPECT_TRUE(step_.Write("/in/gone", "back", Files::Mode::kAppend).ok());
  EXPECT_EQ(Read("/in/gone"), "back");
  EXPECT_EQ(Read("/in/other"), "file.unreadable");
}

TEST_F(FilesOfStepTest, RefusesAtOnceWhatLeadsOut) {
  EXPECT_EQ(step_.Write("/out/a", "x", Files::Mode::kReplace).id(), "flow.file_outside");
  EXPECT_EQ(step_.Remove("/out/a").id(), "flow.file_outside");
  EXPECT_TRUE(actions_.empty());
}

}  // namespace
}  // namespace sluice::flow
