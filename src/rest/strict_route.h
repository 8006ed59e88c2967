// Routes that refuse query parameters that they do not name: a misspelt one would change what is
// answered without a word.
#pragma once

#include "rest/http_types.h"

namespace sluice::rest {

// Of documents, imports, types and advice: http.unknown_parameter (400), with the nearest name. To
// be called when all routes are added.
void RefuseUnknownParameters(const Router& router);

}  // namespace sluice::rest
