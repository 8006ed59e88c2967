#include "query/value_size.h"

namespace sluice::query {
namespace {

using json::Field;
using json::Value;

constexpr size_t kInline = 15;  // bytes of a string that are in the value itself
constexpr size_t kHeader = 24;  // of what is shared

void Count(const Value& value, size_t* bytes) {
  *bytes += sizeof(Value);
  if (value.is_string()) {
    if (value.AsString().size() > kInline) *bytes += kHeader + value.AsString().size();
  } else if (value.is_bytes()) {
    *bytes += kHeader + value.AsBytes().size();
  } else if (value.is_array()) {
    *bytes += kHeader;
    for (const Value& item : value.items()) {
      if (*bytes > kMostCountedBytes) return;
      Count(item, bytes);
    }
  } else if (value.is_object()) {
    *bytes += kHeader;
    for (const Field& field : value.fields()) {
      if (*bytes > kMostCountedBytes) return;
      Count(field.key, bytes);
      Count(field.value, bytes);
    }
  }
}

}  // namespace

size_t ApproximateBytes(const Value& value) {
  size_t bytes = 0;
  Count(value, &bytes);
  return bytes;
}

}  // namespace sluice::query
