#include "base/disk_file.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(DiskFileTest, IsReadByPiecesAndHasNoName) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / "disk_file_test" / "made";
  auto file = DiskFile::MakeUnnamed(directory.string());
  ASSERT_TRUE(file) << file.error().ToString();
  ASSERT_TRUE((*file)->Append("hello ").ok());
  ASSERT_TRUE((*file)->Append("world").ok());
  EXPECT_EQ((*file)->size(), 11u);
  EXPECT_EQ((*file)->Read(0, 5).value(), "hello");
  EXPECT_EQ((*file)->Read(6, 100).value(), "world");
  EXPECT_EQ((*file)->Read(11, 1).value(), "");
  EXPECT_EQ((*file)->Map().value().bytes(), "hello world");
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  std::filesystem::remove_all(directory.parent_path());
}

TEST(DiskFileTest, WhatCantBeOpenedIsTold) {
  EXPECT_EQ(DiskFile::Open("/nothing/there").error().code(), Code::kNotFound);
  EXPECT_EQ(DiskFile::Open("/").error().id(), "file.unreadable");
  EXPECT_EQ(DiskFile::MakeUnnamed("/proc/nothing").error().id(), "file.unwritable");
}

}  // namespace
}  // namespace sluice
