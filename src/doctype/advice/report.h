// Tables and bars of text, for reports that people read.
#pragma once

#include <string>
#include <vector>

namespace sluice::doctype {

// A bar of `width` characters for a share from 0 to 1: "####......".
std::string Bar(double share, size_t width);

// Columns are as wide as their widest cell; numbers (cells that begin with a digit) go to the
// right.
std::string Table(const std::vector<std::string>& titles,
                  const std::vector<std::vector<std::string>>& rows);

}  // namespace sluice::doctype
