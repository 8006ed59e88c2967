// What is wrong with a text that is no YAML, in words of who wrote it: the parser tells what it
// looked for.
#pragma once

#include <string_view>

#include "base/status.h"

namespace sluice::yaml {

// `said` and `place` are the parser's. Error yaml.invalid.
Status Explain(std::string_view text, std::string_view said, Place place);

}  // namespace sluice::yaml
