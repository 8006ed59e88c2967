#include "cli/progress_bar.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

TEST(ProgressBar, Text) {
  EXPECT_EQ(ProgressText(5, 10, "documents"), "##########..........  50%  5 of 10 documents");
  EXPECT_EQ(ProgressText(12, 10, "documents"), "#################### 100%  12 of 12 documents");
  EXPECT_EQ(ProgressText(7, 0, "documents"), "7 documents");
}

}  // namespace
}  // namespace sluice::cli
