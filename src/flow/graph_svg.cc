// The picture: rows of boxes, arrows between them. A box is as wide as its longer text; boxes of a
// row stand side by side, and all rows have the same middle.
#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "flow/graph.h"

namespace sluice::flow {
namespace {

constexpr int kCharacter = 8;  // of a text, wide
constexpr int kPadding = 14;
constexpr int kBoxHeight = 46;
constexpr int kRowHeight = 110;
constexpr int kGap = 30;  // between boxes, and around everything

struct Box {
  int row = 0;
  int x = 0;  // left
  int y = 0;  // top
  int width = 0;

  int middle() const { return x + width / 2; }
};

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

int WidthOf(const Task& task) {
  const size_t letters = std::max(task.name.size(), task.route.size());
  return static_cast<int>(std::min<size_t>(letters, 200)) * kCharacter + 2 * kPadding;
}

// Rows by the number of steps from the first task; handlers of the flow begin in the first row.
std::vector<Box> PlaceBoxes(const Flow& flow, const std::vector<Arrow>& arrows) {
  std::vector<Box> boxes(flow.tasks.size());
  std::vector<bool> seen(flow.tasks.size(), false);
  std::deque<TaskIndex> open;
  const auto reach = [&](TaskIndex task, int row) {
    if (task < 0 || seen[static_cast<size_t>(task)]) return;
    seen[static_cast<size_t>(task)] = true;
    boxes[static_cast<size_t>(task)].row = row;
    open.push_back(task);
  };
  reach(flow.first, 0);
  while (!open.empty()) {
    const TaskIndex at = open.front();
    open.pop_front();
    for (const Arrow& arrow : arrows) {
      if (arrow.from == at) reach(arrow.to, boxes[static_cast<size_t>(at)].row + 1);
    }
    if (open.empty()) reach(flow.exception, 0);
  }
  return boxes;
}

// Sets x, y and width; gives the width of everything.
int SpreadRows(const Flow& flow, std::vector<Box>* boxes) {
  std::vector<int> widths;
  for (size_t i = 0; i < boxes->size(); ++i) {
    Box& box = (*boxes)[i];
    box.width = WidthOf(flow.tasks[i]);
    box.y = kGap + box.row * kRowHeight;
    if (widths.size() <= static_cast<size_t>(box.row)) widths.resize(box.row + 1, kGap);
    box.x = widths[box.row];
    widths[box.row] += box.width + kGap;
  }
  const int widest = *std::max_element(widths.begin(), widths.end());
  for (Box& box : *boxes) box.x += (widest - widths[box.row]) / 2;
  return widest;
}

std::string BoxSvg(const Task& task, const Box& box) {
  const int round = task.execution == Execution::kEnd        ? kBoxHeight / 2
                    : task.execution == Execution::kDecision ? 0
                                                             : 6;
  std::string out = fmt::format(
      "<g><title>{}: {}</title><rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
      "rx=\"{}\"/>",
      ExecutionName(task.execution), Escaped(task.description), ExecutionName(task.execution),
      box.x, box.y, box.width, kBoxHeight, round);
  const bool two_lines = task.route != task.name;
  out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", box.middle(),
                     box.y + (two_lines ? 20 : 28), Escaped(task.name));
  if (two_lines) {
    out += fmt::format("<text class=\"route\" x=\"{}\" y=\"{}\">{}</text>", box.middle(),
                       box.y + 37, Escaped(task.route));
  }
  return out + "</g>\n";
}

std::string ArrowSvg(const Arrow& arrow, const Box& from, const Box& to) {
  const bool down = to.row > from.row;
  // What goes up or stays in its row leaves at the side.
  const int x1 = down ? from.middle() : from.x + from.width;
  const int y1 = from.y + (down ? kBoxHeight : kBoxHeight / 2);
  const int x2 = down ? to.middle() : to.x + to.width;
  const int y2 = to.y + (down ? 0 : kBoxHeight / 2);
  const int bend = down ? (y2 - y1) / 2 : 0;
  const int aside = down ? 0 : kGap;
  std::string out =
      fmt::format("<path class=\"{}\" marker-end=\"url(#tip)\" d=\"M{} {} C{} {} {} {} {} {}\"/>",
                  arrow.kind == Arrow::Kind::kError ? "error" : "next", x1, y1, x1 + aside,
                  y1 + bend, x2 + aside, y2 - bend, x2, y2);
  if (!arrow.label.empty()) {
    out += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\">{}</text>", (x1 + x2) / 2 + aside,
                       (y1 + y2) / 2, Escaped(arrow.label));
  }
  return out + "\n";
}

constexpr std::string_view kStyle =
    "<style>rect{fill:#fff;stroke:#345}.decision{fill:#ffe}.end{fill:#efe}.sink{fill:#eee}"
    ".fork,.parallel,.pipeline{fill:#eef}path{fill:none;stroke:#345}"
    ".error{stroke:#a33;stroke-dasharray:5 4}"
    "text{font:13px monospace;text-anchor:middle}.route,.label{font-size:11px;fill:#567}"
    "</style>\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
    "markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" "
    "style=\"fill:#345\"/></marker></defs>\n";

}  // namespace

std::string SvgOf(const Flow& flow) {
  const std::vector<Arrow> arrows = ArrowsOf(flow);
  std::vector<Box> boxes = PlaceBoxes(flow, arrows);
  const int width = SpreadRows(flow, &boxes) + kGap;
  int rows = 0;
  for (const Box& box : boxes) rows = std::max(rows, box.row + 1);
  const int height = rows * kRowHeight + kGap;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" "
      "height=\"{}\">\n<title>{}</title>\n",
      width, height, width, height, Escaped(flow.id));
  out += kStyle;
  for (const Arrow& arrow : arrows) {
    out += ArrowSvg(arrow, boxes[static_cast<size_t>(arrow.from)],
                    boxes[static_cast<size_t>(arrow.to)]);
  }
  for (size_t i = 0; i < boxes.size(); ++i) out += BoxSvg(flow.tasks[i], boxes[i]);
  return out + "</svg>\n";
}

}  // namespace sluice::flow
