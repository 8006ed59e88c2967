#include "base/status.h"

#include "base/check.h"

namespace sluice {
namespace {
const std::string kEmptyString;
const Place kNoPlace;
const std::map<std::string, std::string> kNoFields;
}  // namespace

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kNotFound:
      return "not found";
    case Code::kAlreadyExists:
      return "already exists";
    case Code::kConflict:
      return "conflict";
    case Code::kUnauthenticated:
      return "unauthenticated";
    case Code::kForbidden:
      return "forbidden";
    case Code::kTooLarge:
      return "too large";
    case Code::kOverloaded:
      return "overloaded";
    case Code::kTimeout:
      return "timeout";
    case Code::kCancelled:
      return "cancelled";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kNoSpace:
      return "no space";
    case Code::kIo:
      return "io";
    case Code::kCorruption:
      return "corruption";
    case Code::kInternal:
      return "internal";
  }
  return "unknown";
}

Status::Status(Code code, std::string_view id, std::string message) {
  CHECK(code != Code::kOk);
  rep_ = std::make_shared<const Rep>(Rep{code, std::string(id), std::move(message), {}, {}});
}

const std::string& Status::id() const { return rep_ ? rep_->id : kEmptyString; }
const std::string& Status::message() const { return rep_ ? rep_->message : kEmptyString; }
const Place& Status::place() const { return rep_ ? rep_->place : kNoPlace; }
const std::map<std::string, std::string>& Status::fields() const {
  return rep_ ? rep_->fields : kNoFields;
}

Status Status::At(Place place) const {
  if (ok()) return *this;
  auto rep = std::make_shared<Rep>(*rep_);
  rep->place = std::move(place);
  return Status(std::shared_ptr<const Rep>(std::move(rep)));
}

Status Status::With(std::string key, std::string value) const {
  if (ok()) return *this;
  auto rep = std::make_shared<Rep>(*rep_);
  rep->fields.insert_or_assign(std::move(key), std::move(value));
  return Status(std::shared_ptr<const Rep>(std::move(rep)));
}

Status Status::Prefixed(std::string_view context) const {
  if (ok()) return *this;
  auto rep = std::make_shared<Rep>(*rep_);
  rep->message = fmt::format("{}: {}", context, rep_->message);
  return Status(std::shared_ptr<const Rep>(std::move(rep)));
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  std::string text = fmt::format("{}: {}", rep_->id, rep_->message);
  const Place& where = rep_->place;
  if (!where.file.empty() || where.line != 0) {
    text += " (" + (where.file.empty() ? std::string("line") : where.file);
    if (where.line != 0) text += fmt::format(":{}:{}", where.line, where.column);
    text += ")";
  }
  return text;
}

}  // namespace sluice
