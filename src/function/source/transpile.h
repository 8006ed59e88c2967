// Prepares a handler's text for V8: calls replace embedded SQL++, the handler's headers and
// constant bindings go on lines before the text, its footers after it. Lines keep their numbers.
#pragma once

#include <expected>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "function/source/checks.h"
#include "function/source/embedded_sql.h"

namespace sluice::function {

inline constexpr size_t kMaxCodeBytes = 1 << 20;

struct ConstantBinding {
  std::string alias;
  std::string literal;  // JavaScript: one expression
};

struct PrepareOptions {
  std::vector<std::string> headers = {"'use strict';"};
  std::vector<std::string> footers;
  std::vector<ConstantBinding> constants;
  std::set<std::string> bindings;  // the names of the other bindings
  CodeKind kind = CodeKind::kHandlers;
  SqlConsistency consistency = SqlConsistency::kUnset;
};

// Translates columns of V8's text, whose lines are longer where calls replace statements, to
// columns of the handler's text.
class ColumnMap {
 public:
  // The text from `place` on stands at column `user` in the handler. With `fixed`, all of it stands
  // at that one column: a call that the handler's text does not have. Call it in the order of
  // places.
  void Add(SourcePlace place, uint32_t user, bool fixed) {
    segments_.push_back({.place = place, .user = user, .fixed = fixed});
  }
  // The handler's place for a place in V8's text, whose line number is already the handler's.
  SourcePlace ToUser(SourcePlace place) const;

 private:
  struct Segment {
    SourcePlace place;
    uint32_t user;
    bool fixed;
  };
  std::vector<Segment> segments_;  // by place
};

struct PreparedSource {
  std::string text;           // for js::Source
  int first_line = 1;         // number of its first line; the handler's first line has number 1
  size_t handler_offset = 0;  // where the handler's own text begins
  ColumnMap columns;
  std::vector<EmbeddedStatement> statements;
  ProgramFacts facts;
};

// Errors of headers, footers and constants, which have no place in the handler, come first; then
// those of the handler, in order of place.
std::expected<PreparedSource, std::vector<Status>> Prepare(std::string_view code,
                                                           const PrepareOptions& options);

// Checks that the text is one JavaScript expression, as far as tokens show.
Status CheckConstant(const ConstantBinding& constant);

}  // namespace sluice::function
