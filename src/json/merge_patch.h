// JSON Merge Patch, RFC 7386: fields of the patch replace those of the document, null removes them,
// objects are merged, everything else is replaced as a whole.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::json {

Value MergePatch(Value target, const Value& patch);

// The same on text. The result is compact; numbers in it print as they came. Errors of Parse; those
// of the patch are prefixed with "patch".
Result<std::string> MergePatchText(std::string_view document, std::string_view patch);

}  // namespace sluice::json
