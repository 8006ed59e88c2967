#include "query/cdb2_text.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "db/datetime_text.h"
#include "query/result_text.h"

namespace sluice::query {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::string Cdb2Value(const json::Value& value, std::string_view zone) {
  switch (value.type()) {
    case json::Type::kMissing:
    case json::Type::kNull:
      return "NULL";
    case json::Type::kBool:
      return value.AsBool() ? "1" : "0";
    case json::Type::kInt:
      return std::to_string(value.AsInt());
    case json::Type::kDouble: {
      // A whole number beyond int64 came as digits.
      const std::string_view literal = value.literal();
      const bool digits =
          !literal.empty() && literal.find_first_of(".eE") == std::string_view::npos;
      return digits ? std::string(literal) : fmt::format("{:f}", value.AsDouble());
    }
    case json::Type::kDecimal:
      return "\"" + value.AsDecimal().ToString() + "\"";
    case json::Type::kDatetime: {
      const json::Datetime moment = value.AsDatetime();
      return "\"" + db::FormatDatetime(moment, zone, moment.us % 1000 == 0 ? 3 : 6) + "\"";
    }
    case json::Type::kInterval:
      return "\"" + db::FormatInterval(value.AsInterval()) + "\"";
    case json::Type::kString:
      return Quoted(value.AsString());
    case json::Type::kBytes:
      return "x'" + ToHex(value.AsBytes()) + "'";
    case json::Type::kArray:
    case json::Type::kObject:
      return Quoted(ResultText(value));
  }
  return "NULL";
}

}  // namespace

std::string Cdb2Row(const json::Value& row, std::string_view zone) {
  if (!row.is_object()) return "($0=" + Cdb2Value(row, zone) + ")";
  std::string text = "(";
  for (const json::Field& field : row.fields()) {
    if (text.size() > 1) text += ", ";
    text += fmt::format("{}={}", field.name(), Cdb2Value(field.value, zone));
  }
  return text + ")";
}

}  // namespace sluice::query
