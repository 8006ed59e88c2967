#include <string>
#include <vector>

#include "json/parse.h"
#include "query/functions/function.h"
#include "query/functions/shape.h"
#include "query/result_text.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

using json::Field;

Value Decode(FunctionContext& context, Args args) {
  if (!args[0]->is_string()) return nullptr;
  const std::string_view text = args[0]->AsString();
  constexpr size_t kPerByte = 8;  // of text: [1,1,1,...] needs the most
  if (!context.Allow(text.size() * kPerByte)) return nullptr;
  auto value = json::Parse(text);
  return value ? *std::move(value) : Value(nullptr);
}

// Empty for MISSING, and when the statement's memory does not allow it.
std::string Text(FunctionContext& context, const Value& value) {
  if (value.is_missing() || !context.Allow(ApproximateBytes(value))) return "";
  return ResultText(value);
}

Value Encode(FunctionContext& context, Args args) { return Text(context, *args[0]); }

Value EncodedSize(FunctionContext& context, Args args) {
  return static_cast<int64_t>(Text(context, *args[0]).size());
}

Value PolyLength(FunctionContext&, Args args) {
  if (args[0]->is_string()) return static_cast<int64_t>(args[0]->AsString().size());
  if (!args[0]->is_array() && !args[0]->is_object()) return nullptr;
  return static_cast<int64_t>(args[0]->size());
}

// [name, value] of every field, however deep, and [name, element] of the fields that are arrays.
void CollectPairs(const Value& value, std::vector<Value>* pairs) {
  for (const Value& item : value.items()) CollectPairs(item, pairs);
  for (const Field& field : value.fields()) {
    pairs->push_back(Value::Array({field.key, field.value}));
    for (const Value& item : field.value.items()) pairs->push_back(Value::Array({field.key, item}));
    CollectPairs(field.value, pairs);
  }
}

Value Pairs(FunctionContext& context, Args args) {
  if (!args[0]->is_array() && !args[0]->is_object()) return nullptr;
  constexpr size_t kPerByte = 4;  // an element of sixteen bytes becomes an array of two
  if (!context.Allow(ApproximateBytes(*args[0]) * kPerByte)) return nullptr;
  std::vector<Value> pairs;
  CollectPairs(*args[0], &pairs);
  return Value::Array(std::move(pairs));
}

Value InferValue(FunctionContext&, Args args) {
  Shape shape;
  shape.Add(*args[0]);
  return shape.Describe();
}

constexpr ScalarFunction kJsonFunctions[] = {
    {"decode_json", 1, 1, Decode},
    {"encode_json", 1, 1, Encode, Unknowns::kSeen},
    {"encoded_size", 1, 1, EncodedSize, Unknowns::kSeen},
    {"infer_value", 1, 1, InferValue, Unknowns::kSeen},
    {"pairs", 1, 1, Pairs},
    {"poly_length", 1, 1, PolyLength},
};

constexpr FunctionAlias kJsonAliases[] = {
    {"infervalue", "infer_value"},
    {"json_decode", "decode_json"},
    {"json_encode", "encode_json"},
};

}  // namespace

FunctionFamily JsonFunctions() { return {kJsonFunctions, kJsonAliases}; }

}  // namespace sluice::query
