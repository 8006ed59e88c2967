// Hints in comments: SELECT /*+ INDEX(a by_age) USE_HASH(b/PROBE) */ ... means the same as USE
// INDEX and USE HASH after the terms of FROM.
#pragma once

#include "query/parse/ast.h"

namespace sluice::query {

// Moves each hint to the FROM term that it names; the aliases must be known. Hints that can't be
// read or name no term stay in block.hints. A USE clause takes precedence over a comment.
void ApplyHintComments(SelectBlock& block);

}  // namespace sluice::query
