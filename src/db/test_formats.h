// For golden tests of stored rows.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace sluice::db {

// The row as given is accepted; cut short anywhere, or with another version byte, it is not.
inline void ExpectOnlyWhole(std::string row, const std::function<bool(std::string_view)>& decodes) {
  EXPECT_TRUE(decodes(row));
  for (size_t size = 0; size < row.size(); ++size) {
    EXPECT_FALSE(decodes(std::string_view(row).substr(0, size))) << size << " bytes";
  }
  ++row[0];
  EXPECT_FALSE(decodes(row)) << "an unknown version";
}

}  // namespace sluice::db
