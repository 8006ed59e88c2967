#include "json/members.h"

namespace sluice::json {

bool Members::Next(Member* member) {
  TokenMember token;
  if (!index_.ok() || !tokens_.Next(&token)) return false;
  member->name = token.name;
  member->start = offset_ + token.start;
  member->begin = offset_ + index_.Position(token.token);
  member->end = offset_ + index_.EndOf(token.token, token.next);
  return true;
}

}  // namespace sluice::json
