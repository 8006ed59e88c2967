#include "json/random_value.h"

#include <cmath>
#include <limits>

namespace sluice::json {
namespace {

double RandomDouble(Random& random) {
  constexpr double kPicks[] = {0.0,
                               -0.0,
                               0.1,
                               -0.1,
                               1.5,
                               1e-7,
                               1e300,
                               -1e300,
                               1e308,
                               5e-324,
                               -5e-324,
                               9007199254740992.0,
                               9223372036854775808.0,
                               -9223372036854775808.0,
                               1.8446744073709552e19};
  switch (random.Below(5)) {
    case 0:
      return std::nan("");
    case 1:
      return random.OneIn(2) ? INFINITY : -INFINITY;
    case 2:
      return static_cast<double>(static_cast<int64_t>(random.Next()));
    case 3:
      return static_cast<double>(random.Below(9)) - 4;
    default: {
      const double pick = kPicks[random.Below(std::size(kPicks))];
      return random.OneIn(3) ? std::nextafter(pick, 0.0) : pick;
    }
  }
}

int64_t RandomInt(Random& random) {
  const int64_t step = static_cast<int64_t>(random.Below(5)) - 2;
  switch (random.Below(4)) {
    case 0:
      return step;
    case 1:
      return (int64_t{1} << (52 + random.Below(11))) + step;
    case 2:
      return -(int64_t{1} << (52 + random.Below(11))) + step;
    default:
      return random.OneIn(2) ? INT64_MAX - (step + 2) : INT64_MIN + (step + 2);
  }
}

Decimal RandomDecimal(Random& random) {
  Decimal value;
  const auto exponent = static_cast<int32_t>(random.Below(5)) - 3;
  switch (random.Below(4)) {
    case 0:
      value = {random.Below(30), exponent, random.OneIn(2)};
      break;
    case 1:
      value = {static_cast<uint64_t>(RandomInt(random)) >> 1, exponent, random.OneIn(2)};
      break;
    case 2:
      value = {random.Below(3) + 1, random.OneIn(2) ? 6000 : -6000, random.OneIn(2)};
      break;
    default:  // close to double 0.1, and to the ends of double
      value = {(static_cast<unsigned __int128>(1) << 100) + random.Below(3),
               random.OneIn(2) ? -31 : 278, random.OneIn(2)};
  }
  if (value.coefficient == 0) value.negative = false;
  return value;
}

std::string RandomText(Random& random) {
  constexpr std::string_view kLetters(
      "\0\x01"
      "ab",
      4);
  std::string text;
  const size_t size = random.Below(4) * random.Below(7);
  for (size_t i = 0; i < size; ++i) text += kLetters[random.Below(kLetters.size())];
  if (random.OneIn(4)) text += "\u00e9";
  return text;
}

Value RandomContainer(Random& random, int depth) {
  const size_t size = random.Below(4);
  if (random.OneIn(2)) {
    Value array = Value::EmptyArray();
    for (size_t i = 0; i < size; ++i) array.Append(RandomValue(random, depth - 1));
    return array;
  }
  Value object = Value::EmptyObject();
  for (size_t i = 0; i < size; ++i) {
    const std::string name =
        random.OneIn(3) ? RandomText(random) : std::string(1, "abc"[random.Below(3)]);
    object.Set(name, RandomValue(random, depth - 1));
  }
  return object;
}

}  // namespace

Value RandomNumber(Random& random) {
  switch (random.Below(3)) {
    case 0:
      return Value(RandomInt(random));
    case 1:
      return Value(RandomDouble(random));
    default:
      return Value(RandomDecimal(random));
  }
}

Value RandomValue(Random& random, int depth) {
  switch (random.Below(depth > 0 ? 12 : 8)) {
    case 0:
      return random.OneIn(2) ? Value() : Value(nullptr);
    case 1:
      return Value(random.OneIn(2));
    case 2:
      return Value(Datetime{RandomInt(random)});
    case 3:
      return Value(
          Interval{random.OneIn(2) ? Interval::Kind::kYearMonth : Interval::Kind::kDaySecond,
                   RandomInt(random)});
    case 4:
      return Value::Bytes(RandomText(random));
    case 5:
      return Value(RandomText(random));
    case 6:
    case 7:
      return RandomNumber(random);
    default:
      return RandomContainer(random, depth);
  }
}

}  // namespace sluice::json
