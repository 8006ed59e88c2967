// Whole files, for small ones that people write.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace sluice {

// The file's bytes. Errors: file.unreadable, file.too_large.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes);

}  // namespace sluice
