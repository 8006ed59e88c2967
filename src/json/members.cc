#include "json/members.h"

#include "json/text.h"

namespace sluice::json {

bool Members::NextBegin(Member* member) {
  const char close = object_ ? '}' : ']';
  at_ = SkipSpace(text_, first_ ? at_ + 1 : at_);
  if (at_ >= text_.size()) return Malformed();
  if (text_[at_] == close) {
    ++at_;
    return false;
  }
  if (!first_) {
    if (text_[at_] != ',') return Malformed();
    at_ = SkipSpace(text_, at_ + 1);
  }
  first_ = false;
  member->start = at_;
  if (object_) {
    if (at_ >= text_.size() || text_[at_] != '"') return Malformed();
    const size_t after = SkipString(text_, at_);
    if (after == kNoPosition) return Malformed();
    member->name = text_.substr(at_ + 1, after - at_ - 2);
    at_ = SkipSpace(text_, after);
    if (at_ >= text_.size() || text_[at_] != ':') return Malformed();
    at_ = SkipSpace(text_, at_ + 1);
  }
  member->begin = at_;
  return at_ < text_.size() || Malformed();
}

bool Members::Next(Member* member) {
  if (!NextBegin(member)) return false;
  member->end = SkipValue(text_, member->begin);
  if (member->end == kNoPosition) return Malformed();
  EndAt(member->end);
  return true;
}

Status MalformedDocument() {
  return Error(Code::kInvalidArgument, "json.invalid", "the document is not JSON");
}

}  // namespace sluice::json
