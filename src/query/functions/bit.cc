// Bit operations on int64, seen as 64 bits. Positions count from 1, the lowest bit.

#include <bit>
#include <optional>

#include "query/functions/arithmetic.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

constexpr int64_t kBits = 64;

std::optional<uint64_t> BitsOf(const Value& value) {
  const auto whole = WholeNumber(value);
  return whole ? std::optional(static_cast<uint64_t>(*whole)) : std::nullopt;
}

Value FromBits(uint64_t bits) { return static_cast<int64_t>(bits); }

template <typename Combine>
Value Fold(Args args, Combine combine) {
  auto bits = BitsOf(*args[0]);
  for (const Value* arg : args.subspan(1)) {
    const auto next = BitsOf(*arg);
    if (!bits || !next) return nullptr;
    bits = combine(*bits, *next);
  }
  return FromBits(*bits);
}

Value BitAnd(FunctionContext&, Args args) {
  return Fold(args, [](uint64_t a, uint64_t b) { return a & b; });
}
Value BitOr(FunctionContext&, Args args) {
  return Fold(args, [](uint64_t a, uint64_t b) { return a | b; });
}
Value BitXor(FunctionContext&, Args args) {
  return Fold(args, [](uint64_t a, uint64_t b) { return a ^ b; });
}
Value BitNot(FunctionContext&, Args args) {
  const auto bits = BitsOf(*args[0]);
  return bits ? FromBits(~*bits) : Value(nullptr);
}

// An optional third argument that must be a boolean.
std::optional<bool> Flag(Args args) {
  if (args.size() < 3) return false;
  return args[2]->is_bool() ? std::optional(args[2]->AsBool()) : std::nullopt;
}

// To the left, or by a negative amount to the right; zeros come in, or what went out.
Value BitShift(FunctionContext&, Args args) {
  const auto bits = BitsOf(*args[0]);
  const auto amount = WholeNumber(*args[1]);
  const auto rotate = Flag(args);
  if (!bits || !amount || !rotate) return nullptr;
  if (*rotate) return FromBits(std::rotl(*bits, static_cast<int>(*amount % kBits)));
  if (*amount >= kBits || *amount <= -kBits) return 0;
  return FromBits(*amount >= 0 ? *bits << *amount : *bits >> -*amount);
}

// The bits at one position, or at an array of them.
std::optional<uint64_t> Positions(const Value& value) {
  const std::span<const Value> list =
      value.is_array() ? value.items() : std::span<const Value>(&value, 1);
  uint64_t bits = 0;
  for (const Value& item : list) {
    const auto position = WholeNumber(item);
    if (!position || *position < 1 || *position > kBits) return std::nullopt;
    bits |= uint64_t{1} << (*position - 1);
  }
  return bits;
}

Value BitSet(FunctionContext&, Args args) {
  const auto bits = BitsOf(*args[0]);
  const auto positions = Positions(*args[1]);
  return bits && positions ? FromBits(*bits | *positions) : Value(nullptr);
}

Value BitClear(FunctionContext&, Args args) {
  const auto bits = BitsOf(*args[0]);
  const auto positions = Positions(*args[1]);
  return bits && positions ? FromBits(*bits & ~*positions) : Value(nullptr);
}

// Whether any of the positions is set, or all of them.
Value BitTest(FunctionContext&, Args args) {
  const auto bits = BitsOf(*args[0]);
  const auto positions = Positions(*args[1]);
  const auto all = Flag(args);
  if (!bits || !positions || !all) return nullptr;
  const uint64_t set = *bits & *positions;
  return *all ? set == *positions : set != 0;
}

constexpr ScalarFunction kBitFunctions[] = {
    {"bitand", 2, kAnyNumber, BitAnd}, {"bitor", 2, kAnyNumber, BitOr},
    {"bitxor", 2, kAnyNumber, BitXor}, {"bitnot", 1, 1, BitNot},
    {"bitshift", 2, 3, BitShift},      {"bitset", 2, 2, BitSet},
    {"bitclear", 2, 2, BitClear},      {"bittest", 2, 3, BitTest},
};

constexpr FunctionAlias kBitAliases[] = {{"isbitset", "bittest"}};

}  // namespace

FunctionFamily BitFunctions() { return {kBitFunctions, kBitAliases}; }

}  // namespace sluice::query
