#include "procedure/csv.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sluice::procedure {
namespace {

using json::Value;

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  Result<Value> Read() {
    std::vector<Value> rows;
    while (at_ < text_.size()) {
      std::vector<Value> row;
      do {
        ASSIGN_OR_RETURN(std::string field, Field());
        row.emplace_back(field);
      } while (Accept(','));
      Accept('\r');
      if (!Accept('\n') && at_ < text_.size()) return Unexpected(Wrong("a comma or a new line"));
      ++line_;
      rows.push_back(Value::Array(std::move(row)));
    }
    return Value::Array(std::move(rows));
  }

 private:
  bool Accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Status Wrong(std::string_view expected) const {
    return Error(Code::kInvalidArgument, "procedure.csv", "row {}: expected {}", line_, expected);
  }

  Result<std::string> Field() {
    if (!Accept('"')) {
      const size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      std::string field(text_.substr(at_, end - at_));
      at_ = end;
      return field;
    }
    std::string field;
    while (true) {
      const size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) return Unexpected(Wrong("a closing quote"));
      field += text_.substr(at_, quote - at_);
      at_ = quote + 1;
      if (!Accept('"')) return field;
      field += '"';
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
};

}  // namespace

Result<Value> ParseCsv(std::string_view text) { return CsvReader(text).Read(); }

}  // namespace sluice::procedure
