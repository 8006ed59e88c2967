// Walks the elements or fields of one array or object in text, in order:
//
//   Members members(text, at);  // text[at] is '[' or '{'
//   for (Member member; members.Next(&member);) use(text.substr(member.begin, ...));
//   if (!members.ok()) ...      // not JSON
//
// Never reads outside the text, whatever it holds.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"

namespace sluice::json {

struct Member {
  std::string_view name;  // as it stands between its quotes; nothing for elements
  size_t start = 0;       // of the name's quote, or of the element
  size_t begin = 0;       // of the value
  size_t end = 0;         // after the value
};

class Members {
 public:
  Members(std::string_view text, size_t at) : text_(text), at_(at), object_(text[at] == '{') {}

  // False after the last one, or when the text is malformed.
  bool Next(Member* member);

  // The same in two parts, for callers that find a value's end themselves: NextBegin leaves
  // `member->end` alone and must be followed by EndAt with the position after the value.
  bool NextBegin(Member* member);
  void EndAt(size_t end) { at_ = end; }

  bool ok() const { return ok_; }
  // After Next has returned false and ok(): the position after the closing bracket.
  size_t end() const { return at_; }

 private:
  bool Malformed() {
    ok_ = false;
    return false;
  }

  const std::string_view text_;
  size_t at_;
  const bool object_;
  bool first_ = true;
  bool ok_ = true;
};

// What is reported for a document that turns out not to be JSON while something is looked up.
Status MalformedDocument();

}  // namespace sluice::json
