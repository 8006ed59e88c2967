#include "doctype/limits.h"

#include <algorithm>

#include "base/quantity.h"
#include "json/extract.h"
#include "json/members.h"
#include "json/skim.h"

namespace sluice::doctype {
namespace {

// Levels of arrays and objects, the document itself included.
uint64_t DepthOf(std::string_view document) {
  uint64_t depth = 0;
  uint64_t deepest = 0;
  const char* const end = document.data() + document.size();
  for (const char* at = document.data(); at != nullptr && at < end;) {
    if (*at == '"') {
      bool escaped = false;
      at = json::SkimString(at, end, &escaped);
      continue;
    }
    if (*at == '{' || *at == '[') deepest = std::max(deepest, ++depth);
    if (*at == '}' || *at == ']') --depth;
    ++at;
  }
  return deepest;
}

Status CheckArray(const Type& type, const ArrayLimit& limit, std::string_view document) {
  ASSIGN_OR_RETURN(const auto found, json::FindRaw(document, limit.path));
  if (!found || found->empty() || found->front() != '[') return OkStatus();
  json::Members members(*found, 0);
  uint64_t size = 0;
  for (json::Member member; members.Next(&member);) ++size;
  if (size <= limit.most) return OkStatus();
  return Error(Code::kTooLarge, "type.array_too_long",
               "'{}' has {} elements, and a '{}' at most {} of them", limit.path.ToString(), size,
               type.name, limit.most);
}

}  // namespace

Status CheckLimits(const Type& type, std::string_view document) {
  const Limits& limits = type.limits;
  if (limits.bytes > 0 && document.size() > limits.bytes) {
    return Error(Code::kTooLarge, "type.too_large",
                 "the document has {} bytes, and a '{}' at most {}", document.size(), type.name,
                 FormatSizeBytes(limits.bytes));
  }
  if (limits.depth > 0) {
    const uint64_t depth = DepthOf(document);
    if (depth > limits.depth) {
      return Error(Code::kTooLarge, "type.too_deep",
                   "the document has {} levels, and a '{}' at most {}", depth, type.name,
                   limits.depth);
    }
  }
  for (const ArrayLimit& limit : limits.arrays) RETURN_IF_ERROR(CheckArray(type, limit, document));
  return OkStatus();
}

}  // namespace sluice::doctype
