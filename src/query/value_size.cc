#include "query/value_size.h"

namespace sluice::query {
namespace {

using json::Field;
using json::Value;

constexpr size_t kInline = 15;       // bytes of a string that are in the value itself
constexpr size_t kTextHeader = 24;   // of what is shared, with what its allocations take
constexpr size_t kArrayHeader = 64;  // the count and the vector
constexpr size_t kObjectHeader = 96;
// An object with more fields finds them by a table, which has at most this for each.
constexpr size_t kLinearFields = 16;
constexpr size_t kFieldPlace = 24;

// False when there are more levels than allowed or more bytes than are counted.
bool Count(const Value& value, int levels, size_t* bytes) {
  *bytes += sizeof(Value);
  if (value.is_string()) {
    if (value.AsString().size() > kInline) *bytes += kTextHeader + value.AsString().size();
    return true;
  }
  if (value.is_bytes()) *bytes += kTextHeader + value.AsBytes().size();
  if (!value.is_array() && !value.is_object()) return true;
  *bytes += value.is_array() ? kArrayHeader : kObjectHeader;
  if (value.is_object() && value.size() > kLinearFields) *bytes += value.size() * kFieldPlace;
  if (levels == 0) return false;
  for (const Value& item : value.items()) {
    if (*bytes > kMostCountedBytes || !Count(item, levels - 1, bytes)) return false;
  }
  for (const Field& field : value.fields()) {
    if (*bytes > kMostCountedBytes) return false;
    Count(field.key, 0, bytes);
    if (!Count(field.value, levels - 1, bytes)) return false;
  }
  return true;
}

}  // namespace

size_t ApproximateBytes(const Value& value) {
  size_t bytes = 0;
  Count(value, kMaxValueDepth + 1, &bytes);
  return bytes;
}

bool FitsLimits(const Value& value, int max_depth) {
  size_t bytes = 0;
  return Count(value, max_depth, &bytes) && bytes <= kMostCountedBytes;
}

bool FitsLimits(const Value& value, size_t* bytes) {
  *bytes = 0;
  return Count(value, kMaxValueDepth, bytes) && *bytes <= kMostCountedBytes;
}

}  // namespace sluice::query
