// Functions of vectors: arrays of numbers, which travel as base64 of 32-bit floats.

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/base64.h"
#include "query/functions/arguments.h"
#include "query/functions/arithmetic.h"
#include "query/functions/function.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

using Vector = std::vector<double>;

std::optional<Vector> VectorOf(const Value& value) {
  if (!value.is_array() || value.size() == 0) return std::nullopt;
  Vector vector;
  for (const Value& item : value.items()) {
    if (!item.is_number()) return std::nullopt;
    vector.push_back(item.ToDouble());
  }
  return vector;
}

double Dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double SquaredDistance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// Smaller is nearer for each of them.
std::optional<double> DistanceBy(std::string_view metric, const Vector& a, const Vector& b) {
  if (metric == "l2" || metric == "euclidean") return std::sqrt(SquaredDistance(a, b));
  if (metric == "l2_squared" || metric == "euclidean_squared") return SquaredDistance(a, b);
  if (metric == "dot") return -Dot(a, b);
  const double lengths = std::sqrt(Dot(a, a) * Dot(b, b));
  if (metric != "cosine" || lengths == 0) return std::nullopt;
  return 1 - Dot(a, b) / lengths;
}

bool IsMetric(std::string_view name) {
  for (const std::string_view metric :
       {"l2", "euclidean", "l2_squared", "euclidean_squared", "dot", "cosine"}) {
    if (name == metric) return true;
  }
  return false;
}

Value Distance(FunctionContext& context, Args args) {
  if (!args[2]->is_string()) return nullptr;
  const std::string metric = ToLowerAscii(TextOf(args, 2));
  if (!IsMetric(metric)) {
    context.Fail(QueryError(QueryCode::kEvaluation,
                            "VECTOR_DISTANCE() knows the metrics L2, L2_SQUARED, EUCLIDEAN, "
                            "EUCLIDEAN_SQUARED, DOT and COSINE, not '{}'",
                            TextOf(args, 2)));
    return nullptr;
  }
  const auto a = VectorOf(*args[0]);
  const auto b = VectorOf(*args[1]);
  if (!a || !b || a->size() != b->size()) return nullptr;
  const auto distance = DistanceBy(metric, *a, *b);
  return distance ? NumberOf(*distance) : Value(nullptr);
}

// ISVECTOR(value, dimension, "float32")
Value IsVector(FunctionContext&, Args args) {
  const auto dimension = WholeNumber(*args[1]);
  if (!dimension || !args[2]->is_string() || ToLowerAscii(TextOf(args, 2)) != "float32") {
    return nullptr;
  }
  const auto vector = VectorOf(*args[0]);
  return vector && static_cast<int64_t>(vector->size()) == *dimension;
}

Value Normalize(FunctionContext&, Args args) {
  const auto vector = VectorOf(*args[0]);
  const double length = vector ? std::sqrt(Dot(*vector, *vector)) : 0;
  if (length == 0) return nullptr;
  std::vector<Value> items;
  for (const double number : *vector) items.push_back(NumberOf(number / length));
  return Value::Array(std::move(items));
}

// An optional second argument says whether the most significant byte comes first.
std::optional<std::endian> ByteOrder(Args args) {
  if (args.size() == 1) return std::endian::little;
  if (!args[1]->is_bool()) return std::nullopt;
  return args[1]->AsBool() ? std::endian::big : std::endian::little;
}

uint32_t InOrder(uint32_t bits, std::endian order) {
  return order == std::endian::native ? bits : std::byteswap(bits);
}

Value Encode(FunctionContext&, Args args) {
  const auto vector = VectorOf(*args[0]);
  const auto order = ByteOrder(args);
  if (!vector || !order) return nullptr;
  std::string bytes;
  for (const double number : *vector) {
    const uint32_t bits = InOrder(std::bit_cast<uint32_t>(static_cast<float>(number)), *order);
    bytes.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  return ToBase64(bytes);
}

Value Decode(FunctionContext& context, Args args) {
  const auto order = ByteOrder(args);
  if (!args[0]->is_string() || !order) return nullptr;
  const auto bytes = FromBase64(args[0]->AsString());
  if (!bytes || bytes->size() % sizeof(float) != 0) return nullptr;
  if (!context.Allow(bytes->size() / sizeof(float) * sizeof(Value))) return nullptr;
  std::vector<Value> items;
  for (size_t at = 0; at < bytes->size(); at += sizeof(float)) {
    uint32_t bits;
    std::memcpy(&bits, bytes->data() + at, sizeof bits);
    items.push_back(NumberOf(std::bit_cast<float>(InOrder(bits, *order))));
  }
  return Value::Array(std::move(items));
}

constexpr ScalarFunction kVectorFunctions[] = {
    {"decode_vector", 1, 2, Decode},     {"encode_vector", 1, 2, Encode},
    {"isvector", 3, 3, IsVector},        {"normalize_vector", 1, 1, Normalize},
    {"vector_distance", 3, 3, Distance},
};

constexpr FunctionAlias kVectorAliases[] = {
    {"vector_decode", "decode_vector"},       {"vector_encode", "encode_vector"},
    {"normalise_vector", "normalize_vector"}, {"vector_normalize", "normalize_vector"},
    {"vector_normalise", "normalize_vector"}, {"knn_distance", "vector_distance"},
};

}  // namespace

FunctionFamily VectorFunctions() { return {kVectorFunctions, kVectorAliases}; }

}  // namespace sluice::query
