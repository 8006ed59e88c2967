// Walks the elements or fields of one array or object of an indexed text, in order:
//
//   TokenMembers members(index, token);  // at '[' or '{'
//   for (TokenMember member; members.Next(&member);) use(member);
//   if (!members.ok()) ...          // not JSON
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"
#include "json/text_index.h"

namespace sluice::json {

struct TokenMember {
  std::string_view name;  // as it stands between its quotes; nothing for elements
  size_t start = 0;       // position of the name's quote, or of the element
  size_t token = 0;       // the value's first
  size_t next = 0;        // the token after the value
};

class TokenMembers {
 public:
  TokenMembers(const TextIndex& index, size_t token)
      : index_(index), token_(token), object_(index.At(token) == '{') {}

  // False after the last one, or when the text is malformed.
  bool Next(TokenMember* member);

  // The same in two parts, for callers that find a value's end themselves: NextBegin leaves
  // `member->next` alone and must be followed by Resume with the token after the value.
  bool NextBegin(TokenMember* member);
  void Resume(size_t token) { token_ = token; }

  bool ok() const { return ok_; }
  // After the last one, when ok(): the token after the closing bracket.
  size_t next() const { return token_; }

 private:
  bool Malformed() {
    ok_ = false;
    return false;
  }

  const TextIndex& index_;
  size_t token_;
  const bool object_;
  bool first_ = true;
  bool ok_ = true;
};

inline bool TokenMembers::NextBegin(TokenMember* member) {
  if (first_) ++token_;
  if (index_.At(token_) == (object_ ? '}' : ']')) {
    ++token_;
    return false;
  }
  if (!first_) {
    if (index_.At(token_) != ',') return Malformed();
    ++token_;
  }
  first_ = false;
  member->start = index_.Position(token_);
  if (object_) {
    if (index_.At(token_) != '"' || index_.At(token_ + 1) != ':') return Malformed();
    member->name = index_.Inside(token_);
    token_ += 2;
  }
  member->token = token_;
  return token_ < index_.size() || Malformed();
}

// The error for a document that turns out not to be JSON during a lookup.
Status MalformedDocument();

}  // namespace sluice::json
