#include "json/token_members.h"

namespace sluice::json {

bool TokenMembers::NextBegin(TokenMember* member) {
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

bool TokenMembers::Next(TokenMember* member) {
  if (!NextBegin(member)) return false;
  member->next = index_.Skip(member->token);
  if (member->next == TextIndex::kNoToken) return Malformed();
  Resume(member->next);
  return true;
}

Status MalformedDocument() {
  return Error(Code::kInvalidArgument, "json.invalid", "the document is not JSON");
}

}  // namespace sluice::json
