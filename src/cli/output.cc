#include "cli/output.h"

#include <algorithm>

#include "cli/exit_code.h"
#include "cli/text_width.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

void AppendPadded(std::string_view text, size_t width, std::string* out) {
  *out += text;
  out->append(width - std::min(width, TextWidth(text)), ' ');
}

std::string TableLine(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    if (i + 1 < cells.size()) {
      AppendPadded(cells[i], widths[i], &line);
    } else {
      line += cells[i];
    }
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

json::Value ProblemObject(const Status& status) {
  json::Value object = json::Value::Object({{"id", status.id()}, {"message", status.message()}});
  const Place& place = status.place();
  if (!place.file.empty()) object.Set("file", place.file);
  if (place.line != 0) object.Set("line", place.line);
  if (place.column != 0) object.Set("column", place.column);
  for (const auto& [name, value] : status.fields()) object.Set(name, value);
  object.Set("hint", HintOf(status));
  object.Set("exit_code", static_cast<int>(ExitCodeOf(status)));
  return object;
}

std::string PlaceText(const Place& place) {
  std::string text = place.file;
  if (place.line != 0) text += fmt::format("{}{}", text.empty() ? "line " : ":", place.line);
  if (place.column != 0) text += fmt::format(":{}", place.column);
  return text.empty() ? text : text + ": ";
}

}  // namespace

std::string CellText(const json::Value& value) {
  if (value.is_missing()) return "";
  if (!value.is_string()) return json::ToText(value);
  std::string text;
  for (const char c : value.AsString()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

void Output::Rows(const json::Value& rows, const std::vector<Column>& columns) {
  if (json()) {
    Line(json::ToText(rows, {.indent = 2}));
    return;
  }
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines[0].emplace_back(column.title);
  for (const json::Value& row : rows.items()) {
    std::vector<std::string>& cells = lines.emplace_back();
    for (const Column& column : columns) cells.push_back(CellText(row[column.field]));
  }
  std::vector<size_t> widths(columns.size());
  for (const auto& cells : lines) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], TextWidth(cells[i]));
  }
  for (const auto& cells : lines) Line(TableLine(cells, widths));
}

void Output::Object(const json::Value& object) {
  if (json()) {
    Line(json::ToText(object, {.indent = 2}));
    return;
  }
  size_t width = 0;
  for (const json::Field& field : object.fields()) width = std::max(width, TextWidth(field.name()));
  for (const json::Field& field : object.fields()) {
    Line(TableLine({std::string(field.name()), CellText(field.value)}, {width, 0}));
  }
}

void Output::Note(std::string_view text) {
  if (!quiet_) notes_ << text << '\n' << std::flush;
}

void Output::Problem(const Status& status) {
  if (json()) {
    notes_ << json::ToText(ProblemObject(status)) << '\n' << std::flush;
    return;
  }
  if (status.fields().contains(std::string(kBareField))) {
    if (!status.message().empty()) notes_ << status.message() << '\n' << std::flush;
    return;
  }
  notes_ << fmt::format("error: {}{} ({})\n", PlaceText(status.place()), status.message(),
                        status.id());
  if (const auto excerpt = status.fields().find(std::string(kExcerptField));
      excerpt != status.fields().end()) {
    notes_ << excerpt->second << '\n';
  }
  if (const std::string_view hint = HintOf(status); !hint.empty()) {
    notes_ << "hint: " << hint << '\n';
  }
  notes_ << std::flush;
}

}  // namespace sluice::cli
