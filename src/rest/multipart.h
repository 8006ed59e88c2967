// Bodies of multipart/form-data, as browsers upload files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::rest {

struct Part {
  std::string name;
  std::string filename;      // empty for a plain field
  std::string content_type;  // as sent; empty for none
  std::string_view body;     // of the text that was parsed
};

inline constexpr size_t kMaxParts = 1000;

// `content_type` is the request's header. Errors flow.bad_body.
Result<std::vector<Part>> ParseMultipart(std::string_view content_type, std::string_view body);

}  // namespace sluice::rest
