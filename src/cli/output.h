// The output of commands: data goes to standard output, everything else to standard error.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::cli {

enum class OutputFormat : uint8_t { kTable, kJson };

struct Column {
  std::string_view title;
  std::string_view field;  // of the row's object
};

// A field of errors: the line of the user's text that is wrong, with a mark below it.
inline constexpr std::string_view kExcerptField = "excerpt";

// A field of errors whose message is printed alone, as another program would have.
inline constexpr std::string_view kBareField = "bare";

class Output {
 public:
  Output(std::ostream& data, std::ostream& notes) : data_(data), notes_(notes) {}

  void set_format(OutputFormat format) { format_ = format; }
  void set_quiet(bool quiet) { quiet_ = quiet; }
  OutputFormat format() const { return format_; }
  bool json() const { return format_ == OutputFormat::kJson; }

  // An array of objects: as a JSON array, or as an aligned table of these columns.
  void Rows(const json::Value& rows, const std::vector<Column>& columns);
  // One object: as JSON, or as lines "name  value".
  void Object(const json::Value& object);
  // Bytes as they are.
  void Raw(std::string_view bytes) {
    data_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void Line(std::string_view text) { data_ << text << '\n'; }
  void Flush() { data_.flush(); }
  bool DataFailed() const { return !data_; }

  // For people, not for programs: standard error, unless --quiet.
  void Note(std::string_view text);
  // "error: message (id)" with place, excerpt and hint, or {id, message, ..., hint, exit_code} as
  // JSON.
  void Problem(const Status& status);

  bool quiet() const { return quiet_; }
  std::ostream& notes() { return notes_; }

 private:
  std::ostream& data_;
  std::ostream& notes_;
  OutputFormat format_ = OutputFormat::kTable;
  bool quiet_ = false;
};

// Strings without quotes, other values as JSON, missing as nothing; control characters escaped, so
// that data can't drive the terminal.
std::string CellText(const json::Value& value);

}  // namespace sluice::cli
