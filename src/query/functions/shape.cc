#include "query/functions/shape.h"

#include <algorithm>
#include <utility>

namespace sluice::query {
namespace {

constexpr size_t kSampleValues = 5;
constexpr int kMaxDepth = 16;

}  // namespace

void Shape::Add(const json::Value& value, int depth) {
  ++documents_;
  ++types_[std::string(json::TypeName(value.type()))];
  const bool scalar = !value.is_array() && !value.is_object();
  if (scalar && samples_.size() < kSampleValues &&
      std::ranges::find(samples_, value) == samples_.end()) {
    samples_.push_back(value);
  }
  if (depth >= kMaxDepth) return;
  for (const json::Field& field : value.fields()) {
    fields_[std::string(field.name())].Add(field.value, depth + 1);
  }
}

json::Value Shape::Describe(uint64_t total) const {
  json::Value names = json::Value::EmptyArray();
  for (const auto& [name, count] : types_) names.Append(json::Value(name));
  json::Value shape = json::Value::Object(
      {{"#docs", json::Value(static_cast<int64_t>(documents_))},
       {"%docs", json::Value(100.0 * static_cast<double>(documents_) / static_cast<double>(total))},
       {"type", types_.size() == 1 ? names[0] : names}});
  if (!samples_.empty()) shape.Set("samples", json::Value::Array(samples_));
  if (!fields_.empty()) {
    json::Value properties = json::Value::EmptyObject();
    for (const auto& [name, field] : fields_) properties.Set(name, field.Describe(total));
    shape.Set("properties", std::move(properties));
  }
  return shape;
}

}  // namespace sluice::query
