#include "storage/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::storage {
namespace {

// The examples of RFC 3720, B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising;
  for (char i = 0; i < 32; ++i) rising.push_back(i);
  EXPECT_EQ(Crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
}

}  // namespace
}  // namespace sluice::storage
