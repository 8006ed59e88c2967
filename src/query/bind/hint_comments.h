// Hints in comments: SELECT /*+ INDEX(a by_age) USE_HASH(b/PROBE) */ ... says what USE INDEX and
// USE HASH say behind the terms of FROM.
#pragma once

#include "query/parse/ast.h"

namespace sluice::query {

// Gives the hints to the terms of FROM that they name, whose aliases are known. Those that can't be
// read or name no term stay in block.hints. A USE clause wins over a comment.
void ApplyHintComments(SelectBlock& block);

}  // namespace sluice::query
