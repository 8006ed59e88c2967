// Trying a regular expression on a text.
#pragma once

#include <string_view>

#include <re2/re2.h>

#include "query/functions/function.h"

namespace sluice::query {

// At worst RE2 looks at each instruction of a pattern for each byte of the text, and nothing can
// stop it in between. A pattern and text that may take more are refused.
inline constexpr size_t kMaxRegexWork = size_t{1} << 31;

// Whether the pattern matches at or after `from`. False too when the statement has failed.
inline bool MatchesRegex(FunctionContext& context, const re2::RE2& regex, std::string_view text,
                         size_t from = 0, re2::StringPiece* match = nullptr) {
  const auto instructions = static_cast<size_t>(regex.ProgramSize());
  const size_t work = instructions * (text.size() - from);
  if (work > kMaxRegexWork) {
    context.Fail(QueryError(QueryCode::kTooLarge,
                            "a regular expression of {} instructions is too much for a text of {} "
                            "bytes",
                            instructions, text.size() - from));
    return false;
  }
  constexpr size_t kWorkPerStep = 1024;
  if (!context.Spend(1 + work / kWorkPerStep)) return false;
  return regex.Match(text, from, text.size(), re2::RE2::UNANCHORED, match,
                     match != nullptr ? 1 : 0);
}

}  // namespace sluice::query
