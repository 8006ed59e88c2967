#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/time_text.h"

namespace sluice {
namespace {

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("level", "level"), 0u);
  EXPECT_EQ(EditDistance("lvel", "level"), 1u);
  EXPECT_EQ(EditDistance("leevl", "level"), 1u);  // neighbours swapped
  EXPECT_EQ(EditDistance("format", "level"), 6u);
}

TEST(Nearest, SuggestsOnlyWhatIsNear) {
  const std::vector<std::string> names = {"durability", "cache", "write_buffer"};
  EXPECT_EQ(NearestName("durabilty", names), "durability");
  EXPECT_EQ(NearestName("writebuffer", names), "write_buffer");
  EXPECT_EQ(NearestName("colour", names), "");
  EXPECT_EQ(NearestName("q", std::vector<std::string>{"i", "qs"}), "qs");
  EXPECT_EQ(NearestName("q", std::vector<std::string>{"i"}), "");
  EXPECT_EQ(DidYouMean("cahce", names), "; did you mean 'cache'?");
  EXPECT_EQ(DidYouMean("colour", names), "");
  EXPECT_EQ(NearestName(std::string(100'000, 'x'), names), "");
}

TEST(File, ReadsWithinItsLimit) {
  const std::string path = ::testing::TempDir() + "/sluice_file_test";
  std::ofstream(path) << "hello";
  EXPECT_EQ(ReadFile(path, 5).value(), "hello");
  EXPECT_EQ(ReadFile(path, 4).error().id(), "file.too_large");
  std::filesystem::remove(path);
  const auto missing = ReadFile(path, 5);
  EXPECT_EQ(missing.error().id(), "file.unreadable");
  EXPECT_EQ(missing.error().code(), Code::kNotFound);
  EXPECT_EQ(ReadFile(::testing::TempDir(), 5).error().id(), "file.unreadable");
}

TEST(TimeText, IsUtc) {
  EXPECT_EQ(UtcText(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(UtcText(1'794'837'597'766), "2026-11-16T13:59:57.766Z");
}

}  // namespace
}  // namespace sluice
