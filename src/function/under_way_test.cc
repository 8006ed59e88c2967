#include "function/under_way.h"

#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"

namespace sluice::function {
namespace {

class UnderWayTest : public ::testing::Test {
 protected:
  UnderWayTest() {
    std::string path = (std::filesystem::temp_directory_path() / "sluice_underway_XXXXXX").string();
    CHECK(mkdtemp(path.data()) != nullptr);
    directory_ = path;
  }
  ~UnderWayTest() override { std::filesystem::remove_all(directory_); }
  std::unique_ptr<UnderWay> Open() {
    auto opened = UnderWay::Open(directory_ / "under_way");
    CHECK(opened.has_value());
    return std::move(*opened);
  }

  std::filesystem::path directory_;
};

TEST_F(UnderWayTest, TellsTheNextOneWhatWasUnderWay) {
  const auto first = Open();
  EXPECT_TRUE(first->left().empty());
  UnderWay::Slot a(first.get(), "b/s/f");
  UnderWay::Slot b(first.get(), "g");
  UnderWay::Slot idle(first.get(), "h");
  a.Begin(UnderWay::Kind::kDocument, 6, "other");
  a.End();
  a.Begin(UnderWay::Kind::kDocument, 7, "k");
  b.Begin(UnderWay::Kind::kTimer, 8, "callback:reference");
  // As after a crash: the first one has not ended.
  const auto second = Open();
  const std::vector<UnderWay::Entry> expected = {
      {"b/s/f", UnderWay::Kind::kDocument, 7, "k"},
      {"g", UnderWay::Kind::kTimer, 8, "callback:reference"}};
  EXPECT_EQ(second->left(), expected);
  EXPECT_TRUE(Open()->left().empty());
}

TEST_F(UnderWayTest, AnOrderlyEndLeavesNothing) {
  {
    const auto first = Open();
    UnderWay::Slot slot(first.get(), "f");
    slot.Begin(UnderWay::Kind::kDocument, 1, "k");
  }
  EXPECT_TRUE(Open()->left().empty());
}

TEST_F(UnderWayTest, LongNamesAreCutAndSlotsRunOut) {
  const auto file = Open();
  const std::string longest(5000, 'x');
  UnderWay::Slot slot(file.get(), longest);
  slot.Begin(UnderWay::Kind::kDocument, 1, longest);
  std::vector<std::unique_ptr<UnderWay::Slot>> slots;
  for (int i = 0; i < 2000; ++i) {
    slots.push_back(std::make_unique<UnderWay::Slot>(file.get(), "f"));
    slots.back()->Begin(UnderWay::Kind::kDocument, 1, "k");
  }
  EXPECT_EQ(Open()->left().size(), 1024u);
  UnderWay::Slot none(nullptr, "f");
  none.Begin(UnderWay::Kind::kDocument, 1, "k");
  none.End();
}

TEST_F(UnderWayTest, AFileOfAnotherSizeIsMadeAnew) {
  std::ofstream(directory_ / "under_way") << "something else";
  EXPECT_TRUE(Open()->left().empty());
}

}  // namespace
}  // namespace sluice::function
