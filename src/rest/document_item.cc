#include "rest/document_item.h"

#include <charconv>
#include <utility>

#include "base/base64.h"
#include "json/extract.h"
#include "json/members.h"
#include "json/print.h"
#include "json/text.h"
#include "rest/body.h"
#include "rest/expiry.h"

namespace sluice::rest {
namespace {

const json::Path& ValuePath() {
  static const json::Path path({std::string("value")});
  return path;
}

Status TakeValue(const json::Value& item, std::string_view raw, db::Document* document) {
  ASSIGN_OR_RETURN(const auto base64, StringField(item, "base64"));
  const bool has_value = !item["value"].is_missing();
  if (has_value == base64.has_value()) {
    return BadField("value", "either a value or base64", item["value"]).error();
  }
  if (base64) {
    ASSIGN_OR_RETURN(document->body, FromBase64(*base64));
    document->datatype = db::Datatype::kBinary;
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const auto text, json::FindRaw(raw, ValuePath()));
  document->body = text.value_or("null");
  return OkStatus();
}

Status TakeAttributes(const json::Value& item, uint64_t now_ms, db::Document* document) {
  ASSIGN_OR_RETURN(const auto expiry_ms, ExpiryField(item, now_ms));
  document->expiry_ms = expiry_ms.value_or(0);
  ASSIGN_OR_RETURN(const auto flags, IntField(item, "flags"));
  if (flags && (*flags < 0 || *flags > UINT32_MAX)) {
    return BadField("flags", "a number of 32 bits", item["flags"]).error();
  }
  document->flags = static_cast<uint32_t>(flags.value_or(0));
  const json::Value& xattrs = item["xattrs"];
  if (xattrs.is_missing()) return OkStatus();
  if (!xattrs.is_object()) return BadField("xattrs", "an object", xattrs).error();
  if (xattrs.size() > 0) document->xattrs = json::ToText(xattrs);
  return OkStatus();
}

Result<db::Precondition> ConditionOf(const json::Value& item) {
  ASSIGN_OR_RETURN(const auto cas_text, StringField(item, "cas"));
  ASSIGN_OR_RETURN(const auto presence, StringField(item, "if"));
  if (cas_text && presence) return BadField("if", "none beside cas", item["if"]);
  if (presence == "absent") return db::Precondition::Absent();
  if (presence == "present") return db::Precondition::Present();
  if (presence) return BadField("if", "absent or present", item["if"]);
  if (!cas_text) return db::Precondition::None();
  db::Cas cas = 0;
  const char* end = cas_text->data() + cas_text->size();
  const auto [stop, error] = std::from_chars(cas_text->data(), end, cas);
  if (error != std::errc() || stop != end || cas == 0) {
    return BadField("cas", "a number in a string", item["cas"]);
  }
  return db::Precondition::CasIs(cas);
}

}  // namespace

Result<db::Write> WriteOfItem(const json::Value& item, std::string_view raw, uint64_t now_ms) {
  db::Write write;
  ASSIGN_OR_RETURN(write.key, RequiredString(item, "key"));
  RETURN_IF_ERROR(db::CheckKey(write.key));
  ASSIGN_OR_RETURN(write.precondition, ConditionOf(item));
  ASSIGN_OR_RETURN(const auto remove, BoolField(item, "delete"));
  if (remove.value_or(false)) {
    for (const std::string_view name : {"value", "base64", "expiry", "flags", "xattrs"}) {
      if (!item[name].is_missing()) return BadField(name, "nothing beside delete", item[name]);
    }
    write.kind = db::Write::Kind::kDelete;
    return write;
  }
  RETURN_IF_ERROR(TakeValue(item, raw, &write.document));
  RETURN_IF_ERROR(TakeAttributes(item, now_ms, &write.document));
  write.keep_xattrs = item["xattrs"].is_missing();
  return write;
}

std::vector<std::string_view> RawItems(std::string_view body, std::string_view name) {
  std::vector<std::string_view> items;
  json::Members members(body, json::SkipSpace(body, 0));
  size_t list = json::kNoPosition;
  for (json::Member member; members.Next(&member);) {
    if (json::InsideEquals(member.name, name)) list = member.begin;
  }
  if (list == json::kNoPosition || body[list] != '[') return items;
  json::Members elements(body, list);
  for (json::Member element; elements.Next(&element);) {
    items.push_back(body.substr(element.begin, element.end - element.begin));
  }
  return items;
}

}  // namespace sluice::rest
