#include "query/cdb2_text.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "db/datetime_text.h"
#include "query/bind/scope.h"
#include "query/parse/parser.h"
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

std::string_view Trimmed(std::string_view text, std::string_view marks) {
  const size_t last = text.find_last_not_of(marks);
  return last == std::string_view::npos ? "" : text.substr(0, last + 1);
}

// What is written before FROM, or before the end; nothing when something else comes first.
std::string_view BeforeFrom(const SelectBlock& block, const Query& query, std::string_view text) {
  constexpr std::string_view kFrom = "from";
  constexpr std::string_view kBlanks = " \t\r\n";
  if (block.from) {
    text = Trimmed(text.substr(0, block.from->first.place.offset), kBlanks);
    if (text.size() < kFrom.size()) return "";
    const size_t start = text.size() - kFrom.size();
    return db::SameColumnName(text.substr(start), kFrom) ? Trimmed(text.substr(0, start), kBlanks)
                                                         : "";
  }
  const bool last = block.let.empty() && block.where == nullptr && !block.group &&
                    query.order_by.empty() && query.limit == nullptr && query.offset == nullptr;
  return last ? Trimmed(text, " \t\r\n;") : "";
}

}  // namespace

Cdb2Names Cdb2NamesOf(std::string_view statement) {
  Cdb2Names names;
  const Result<Statement> parsed = ParseStatement(statement);
  const QueryPtr* const query = parsed ? std::get_if<QueryPtr>(&parsed->body) : nullptr;
  if (query == nullptr) return names;
  const auto* const block = std::get_if<std::unique_ptr<SelectBlock>>(&(*query)->body);
  if (block == nullptr || (*block)->projection.raw) return names;
  const std::string_view all = BeforeFrom(**block, **query, statement);
  const std::vector<ResultTerm>& terms = (*block)->projection.terms;
  int unnamed = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].star || !terms[i].alias.empty()) continue;
    if (!ImplicitName(*terms[i].expression).empty()) continue;
    const size_t from = terms[i].place.offset;
    const size_t to = i + 1 < terms.size() ? terms[i + 1].place.offset : all.size();
    const std::string name = fmt::format("${}", ++unnamed);
    if (from < to && to <= all.size()) {
      names[name] = Trimmed(all.substr(from, to - from), " \t\r\n,");
    }
  }
  return names;
}

std::string Cdb2Row(const json::Value& row, std::string_view zone, const Cdb2Names& names) {
  if (!row.is_object()) return "($0=" + Cdb2Value(row, zone) + ")";
  std::string text = "(";
  for (const json::Field& field : row.fields()) {
    if (text.size() > 1) text += ", ";
    const auto name = names.find(field.name());
    text +=
        fmt::format("{}={}", name == names.end() ? field.name() : std::string_view(name->second),
                    Cdb2Value(field.value, zone));
  }
  return text + ")";
}

}  // namespace sluice::query
