// A handler's text, made ready for V8: embedded SQL++ becomes calls, the handler's headers and
// constant bindings go on lines before it, its footers after it. Lines keep their numbers.
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

// Columns of the text for V8, whose lines are longer where calls stand for statements, and those of
// the handler's text.
class ColumnMap {
 public:
  // From `column` of `line` on (in order), text that stands at `user` in the handler; all of it at
  // `user` itself when `fixed`, as a call that has no such text.
  void Add(SourcePlace place, uint32_t user, bool fixed) {
    segments_.push_back({.place = place, .user = user, .fixed = fixed});
  }
  // Of a place in the text for V8, by its line number in the handler.
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
  int first_line = 1;         // of it, so that the handler's first line is 1
  size_t handler_offset = 0;  // where the handler's own text begins
  ColumnMap columns;
  std::vector<EmbeddedStatement> statements;
  ProgramFacts facts;
};

// Errors are those of the handler in order of place, after those of headers, footers and constants,
// which have no place in it.
std::expected<PreparedSource, std::vector<Status>> Prepare(std::string_view code,
                                                           const PrepareOptions& options);

// OK when the text is one JavaScript expression, as far as tokens tell.
Status CheckConstant(const ConstantBinding& constant);

}  // namespace sluice::function
