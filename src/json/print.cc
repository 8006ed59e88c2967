#include "json/print.h"

#include <charconv>
#include <cmath>

#include "base/base64.h"
#include "json/number.h"
#include "json/text.h"

namespace sluice::json {
namespace {

class Printer {
 public:
  Printer(std::string* out, const PrintOptions& options) : out_(out), options_(options) {}

  void Print(const Value& value) {
    switch (value.type()) {
      case Type::kMissing:
      case Type::kNull:
        *out_ += "null";
        return;
      case Type::kBool:
        *out_ += value.AsBool() ? "true" : "false";
        return;
      case Type::kInt:
        PrintInt(value.AsInt());
        return;
      case Type::kDouble:
        PrintDouble(value);
        return;
      case Type::kDecimal:
        value.AsDecimal().AppendTo(out_);
        return;
      case Type::kString:
        AppendQuoted(value.AsString(), out_);
        return;
      case Type::kArray:
        PrintArray(value);
        return;
      case Type::kObject:
        PrintObject(value);
        return;
      case Type::kDatetime:
      case Type::kInterval:
      case Type::kBytes:
        PrintAsString(value);
        return;
    }
  }

 private:
  void PrintInt(int64_t value) {
    char buffer[24];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    out_->append(buffer, static_cast<size_t>(end - buffer));
  }

  void PrintDouble(const Value& value) {
    const std::string_view literal = value.literal();
    if (options_.numbers == PrintOptions::Numbers::kPlain) {
      PrintPlain(value.AsDouble(), literal);
    } else if (literal.empty()) {
      AppendDouble(value.AsDouble(), out_);
    } else {
      *out_ += literal;
    }
  }

  void PrintPlain(double value, std::string_view literal) {
    if (!literal.empty() && value != 0 && literal.find_first_of(".eE") == std::string_view::npos) {
      *out_ += literal;
    } else if (std::isfinite(value)) {
      AppendPlainDouble(value, out_);
    } else {
      *out_ += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"+Infinity\"" : "\"-Infinity\"";
    }
  }

  // None of these needs an escape.
  void PrintAsString(const Value& value) {
    *out_ += '"';
    if (value.is_datetime()) {
      AppendDatetime(value.AsDatetime(), out_);
    } else if (value.is_interval()) {
      AppendInterval(value.AsInterval(), out_);
    } else {
      AppendBase64(value.AsBytes(), out_);
    }
    *out_ += '"';
  }

  void PrintArray(const Value& value) {
    Open('[');
    bool first = true;
    for (const Value& item : value.items()) {
      Separate(first);
      Print(item);
      first = false;
    }
    Close(']', first);
  }

  void PrintObject(const Value& value) {
    Open('{');
    bool first = true;
    const auto print_field = [&](const Field& field) {
      Separate(first);
      AppendQuoted(field.name(), out_);
      *out_ += options_.indent > 0 ? ": " : ":";
      Print(field.value);
      first = false;
    };
    if (options_.order == PrintOptions::Order::kSorted) {
      for (const Field* field : SortedFields(value)) print_field(*field);
    } else {
      for (const Field& field : value.fields()) print_field(field);
    }
    Close('}', first);
  }

  void Open(char bracket) {
    *out_ += bracket;
    ++depth_;
  }

  void Separate(bool first) {
    if (!first) *out_ += ',';
    BreakLine();
  }

  void Close(char bracket, bool empty) {
    --depth_;
    if (!empty) BreakLine();
    *out_ += bracket;
  }

  void BreakLine() {
    if (options_.indent <= 0) return;
    *out_ += '\n';
    out_->append(static_cast<size_t>(options_.indent) * depth_, ' ');
  }

  std::string* const out_;
  const PrintOptions options_;
  size_t depth_ = 0;
};

void AppendEscape(unsigned char c, std::string* out) {
  switch (c) {
    case '"':
      *out += "\\\"";
      return;
    case '\\':
      *out += "\\\\";
      return;
    case '\b':
      *out += "\\b";
      return;
    case '\f':
      *out += "\\f";
      return;
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    default: {
      constexpr char kHex[] = "0123456789abcdef";
      *out += "\\u00";
      *out += kHex[c >> 4];
      *out += kHex[c & 15];
    }
  }
}

}  // namespace

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  while (true) {
    const size_t plain = PlainPrefix(text);
    out->append(text.data(), plain);
    if (plain == text.size()) break;
    AppendEscape(static_cast<unsigned char>(text[plain]), out);
    text.remove_prefix(plain + 1);
  }
  *out += '"';
}

void Print(const Value& value, std::string* out, const PrintOptions& options) {
  Printer(out, options).Print(value);
}

std::string ToText(const Value& value, const PrintOptions& options) {
  std::string text;
  Print(value, &text, options);
  return text;
}

}  // namespace sluice::json
