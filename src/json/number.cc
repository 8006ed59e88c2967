#include "json/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/ascii.h"

namespace sluice::json {
namespace {

// JavaScript switches to an exponent outside 1e-6 <= |value| < 1e21.
constexpr int kMaxPlainPoint = 21;
constexpr int kMinPlainPoint = -6;

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

// Whether a literal that no double is near to is too large rather than too small, by the power of
// ten of its first significant digit.
bool IsHuge(std::string_view literal) {
  const size_t e = std::min(literal.find_first_of("eE"), literal.size());
  int64_t exponent = 0;
  if (e < literal.size()) {
    const size_t at = literal[e + 1] == '+' ? e + 2 : e + 1;
    const char* end = literal.data() + literal.size();
    if (std::from_chars(literal.data() + at, end, exponent).ec != std::errc()) {
      return literal[at] != '-';
    }
  }
  const std::string_view mantissa = literal.substr(0, e);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_not_of("-0.");
  return exponent > static_cast<int64_t>(first) - static_cast<int64_t>(point);
}

double DoubleFromLiteral(std::string_view literal) {
  double value = 0;
  const auto [end, error] = std::from_chars(literal.data(), literal.data() + literal.size(), value);
  if (error == std::errc()) return value;
  const double magnitude = IsHuge(literal) ? std::numeric_limits<double>::infinity() : 0.0;
  return literal[0] == '-' ? -magnitude : magnitude;
}

// The fewest digits that read back as a finite double: 0.DIGITS * 10^point.
class ShortestDigits {
 public:
  explicit ShortestDigits(double value) {
    if (value == 0) return;  // no digits, no sign
    char buffer[32];
    const char* end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    // d.ddde[+-]xx, taken apart into the digits and the place of the point.
    const char* at = buffer;
    negative_ = *at == '-';
    if (negative_) ++at;
    const std::string_view text(at, static_cast<size_t>(end - at));
    const size_t e = text.find('e');
    for (const char c : text.substr(0, e)) {
      if (c != '.') digits_[count_++] = c;
    }
    int exponent = 0;
    std::from_chars(text.data() + (text[e + 1] == '+' ? e + 2 : e + 1), end, exponent);
    point_ = exponent + 1;
  }

  int point() const { return point_; }

  void AppendPlain(std::string* out) const {
    if (negative_) *out += '-';
    const auto size = static_cast<int>(count_);
    if (size == 0) {
      *out += '0';
    } else if (point_ <= 0) {
      out->append("0.").append(static_cast<size_t>(-point_), '0').append(digits_, count_);
    } else if (size <= point_) {
      out->append(digits_, count_).append(static_cast<size_t>(point_ - size), '0');
    } else {
      out->append(digits_, static_cast<size_t>(point_)).append(1, '.');
      out->append(digits_ + point_, count_ - static_cast<size_t>(point_));
    }
  }

  void AppendScientific(std::string* out) const {
    if (negative_) *out += '-';
    out->append(digits_, 1);
    if (count_ > 1) out->append(1, '.').append(digits_ + 1, count_ - 1);
    *out += point_ < 1 ? "e" : "e+";
    *out += std::to_string(point_ - 1);
  }

 private:
  char digits_[32];
  size_t count_ = 0;
  int point_ = 1;
  bool negative_ = false;
};

}  // namespace

size_t NumberLength(std::string_view text) {
  size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  if (at == text.size() || !IsDigit(text[at])) return 0;
  at = text[at] == '0' ? at + 1 : SkipDigits(text, at);
  if (at < text.size() && text[at] == '.') {
    const size_t end = SkipDigits(text, at + 1);
    if (end == at + 1) return 0;
    at = end;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    size_t digits = at + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    const size_t end = SkipDigits(text, digits);
    if (end == digits) return 0;
    at = end;
  }
  return at;
}

Value NumberFromLiteral(std::string_view literal) {
  int64_t whole = 0;
  const char* end = literal.data() + literal.size();
  const auto [stop, error] = std::from_chars(literal.data(), end, whole);
  if (error == std::errc() && stop == end && literal != "-0") return Value(whole);
  const double value = DoubleFromLiteral(literal);
  constexpr size_t kKeptUnseen = 7;  // fits into the Value, so comparing would only cost time
  if (literal.size() > kKeptUnseen) {
    std::string printed;
    AppendDouble(value, &printed);
    if (printed == literal) return Value(value);
  }
  return Value::DoubleWithLiteral(value, literal);
}

void AppendDouble(double value, std::string* out) {
  if (!std::isfinite(value)) {
    *out += "null";
    return;
  }
  const ShortestDigits shortest(value);
  if (shortest.point() <= kMaxPlainPoint && shortest.point() > kMinPlainPoint) {
    shortest.AppendPlain(out);
  } else {
    shortest.AppendScientific(out);
  }
}

void AppendPlainDouble(double value, std::string* out) { ShortestDigits(value).AppendPlain(out); }

}  // namespace sluice::json
