// The options with which functions choose fields by their names: OBJECT_PATHS, REDACT, ...
//   pattern     a regular expression (absent or empty: every name)
//   regex       false: the pattern is plain text
//   exact       true: it must match the whole, not a part
//   ignorecase  true: upper and lower case are the same
#pragma once

#include <string>
#include <string_view>

#include <re2/re2.h>

#include "query/functions/function.h"
#include "query/functions/regex.h"

namespace sluice::query {

// Whether the option exists and is the boolean `value`.
inline bool OptionIs(const Value& options, std::string_view name, bool value) {
  const Value& option = options[name];
  return option.is_bool() && option.AsBool() == value;
}

class NamePattern {
 public:
  // False when the pattern is no regular expression, which then fails the statement.
  bool Set(FunctionContext& context, const Value& options) {
    const Value& pattern = options["pattern"];
    if (!pattern.is_string() || pattern.AsString().empty()) return true;
    std::string text(pattern.AsString());
    if (OptionIs(options, "regex", false)) text = re2::RE2::QuoteMeta(text);
    if (OptionIs(options, "ignorecase", true)) text = "(?i)" + text;
    const auto match = OptionIs(options, "exact", true) ? FunctionContext::Match::kWhole
                                                        : FunctionContext::Match::kAnywhere;
    context_ = &context;
    regex_ = context.Regex(text, match);
    return regex_ != nullptr;
  }

  bool Matches(std::string_view name) const {
    return regex_ == nullptr || MatchesRegex(*context_, *regex_, name);
  }

 private:
  FunctionContext* context_ = nullptr;
  const re2::RE2* regex_ = nullptr;
};

}  // namespace sluice::query
