// The elements or fields of one array or object in text, in order, as positions in that text:
//
//   Members members(text, at);  // text[at] is '[' or '{'
//   for (Member member; members.Next(&member);) use(text.substr(member.begin, ...));
//   if (!members.ok()) ...      // not JSON
//
// Never reads outside the text, whatever it holds. To enter several containers of one text, index
// it once and use token_members.h.
#pragma once

#include <cstddef>
#include <string_view>

#include "json/text_index.h"
#include "json/token_members.h"

namespace sluice::json {

struct Member {
  std::string_view name;  // as it stands between its quotes; nothing for elements
  size_t start = 0;       // of the name's quote, or of the element
  size_t begin = 0;       // of the value
  size_t end = 0;         // after the value
};

class Members {
 public:
  Members(std::string_view text, size_t at)
      : offset_(at), index_(text.substr(at)), tokens_(index_, 0) {}

  // False after the last one, or when the text is malformed.
  bool Next(Member* member);

  bool ok() const { return index_.ok() && tokens_.ok(); }

 private:
  const size_t offset_;
  const TextIndex index_;
  TokenMembers tokens_;
};

}  // namespace sluice::json
