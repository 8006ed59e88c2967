#include "json/token_members.h"

namespace sluice::json {

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
