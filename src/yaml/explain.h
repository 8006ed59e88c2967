// Explains an error in a YAML text in the terms of the file's author. The parser only says which
// token it expected.
#pragma once

#include <string_view>

#include "base/status.h"

namespace sluice::yaml {

// `said` and `place` are the parser's message and place. Returns yaml.invalid.
Status Explain(std::string_view text, std::string_view said, Place place);

}  // namespace sluice::yaml
