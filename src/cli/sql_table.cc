#include "cli/sql_table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "cli/output.h"
#include "cli/text_width.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kGap = "  ";

struct Cell {
  std::string text;
  bool right = false;
};

// Cells by column, in the order in which columns are first seen.
class Grid {
 public:
  explicit Grid(const SqlTableOptions& options) : options_(options) {}

  size_t ColumnOf(std::string_view title) {
    const auto [at, added] = index_.try_emplace(std::string(title), titles_.size());
    if (added) titles_.emplace_back(CellText(json::Value(title)));
    return at->second;
  }
  void AddRow() { rows_.emplace_back(); }
  void Put(std::string_view title, const json::Value& value) {
    const size_t column = ColumnOf(title);
    std::vector<Cell>& row = rows_.back();
    if (row.size() <= column) row.resize(column + 1);
    row[column] = {CellText(value), value.is_number()};
    if (options_.max_cell_width > 0) {
      row[column].text = CutToWidth(row[column].text, options_.max_cell_width);
    }
  }
  std::string Print();

 private:
  const SqlTableOptions options_;
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<std::string> titles_;
  std::vector<std::vector<Cell>> rows_;
};

std::string Line(const std::vector<Cell>& cells, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += kGap;
    const std::string padding(widths[i] - TextWidth(cells[i].text), ' ');
    line += cells[i].right ? padding + cells[i].text : cells[i].text + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string Grid::Print() {
  std::vector<size_t> widths;
  std::vector<bool> numeric(titles_.size(), true);
  for (const std::string& title : titles_) widths.push_back(TextWidth(title));
  for (const std::vector<Cell>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], TextWidth(row[i].text));
      numeric[i] = numeric[i] && (row[i].right || row[i].text.empty() || row[i].text == "null");
    }
  }
  std::vector<Cell> head, rule;
  for (size_t i = 0; i < titles_.size(); ++i) {
    head.push_back({titles_[i], numeric[i] && !rows_.empty()});
    rule.push_back({std::string(widths[i], '-')});
  }
  std::string text = Line(head, widths) + Line(rule, widths);
  for (const std::vector<Cell>& row : rows_) text += Line(row, widths);
  return text;
}

bool IsStar(const json::Value& signature) {
  return signature.size() == 1 && !signature["*"].is_missing();
}

// {"shop": {"a": 1}} becomes the column a, with several names shop.a; a value that is not an object
// stays itself.
void PutDocuments(const json::Value& row, bool qualified, Grid* grid) {
  for (const json::Field& term : row.fields()) {
    if (!term.value.is_object()) {
      grid->Put(term.name(), term.value);
      continue;
    }
    for (const json::Field& field : term.value.fields()) {
      std::string title = qualified ? std::string(term.name()) + "." : "";
      grid->Put(title += field.name(), field.value);
    }
  }
}

}  // namespace

std::string SqlTable(const json::Value& rows, const json::Value& signature,
                     const SqlTableOptions& options) {
  Grid grid(options);
  const auto is_object = [](const json::Value& row) { return row.is_object(); };
  const bool objects = std::ranges::all_of(rows.items(), is_object);
  const bool star = objects && IsStar(signature);
  const bool qualified =
      std::ranges::any_of(rows.items(), [](const json::Value& row) { return row.size() > 1; });
  if (objects && signature.is_object() && signature["*"].is_missing()) {
    for (const json::Field& field : signature.fields()) grid.ColumnOf(field.name());
  }
  for (const json::Value& row : rows.items()) {
    grid.AddRow();
    if (!objects) {
      grid.Put("value", row);
    } else if (star) {
      PutDocuments(row, qualified, &grid);
    } else {
      for (const json::Field& field : row.fields()) grid.Put(field.name(), field.value);
    }
  }
  return grid.Print();
}

}  // namespace sluice::cli
