// The picture: rows of boxes, arrows between them. A task is below all that lead to it, except
// where a way leads back. A box is as wide as its longest text; boxes of a row stand side by side
// below those that lead to them, and all rows have the same middle.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "flow/graph.h"

namespace sluice::flow {
namespace {

constexpr int kCharacter = 8;  // of a text, wide
constexpr int kPadding = 14;
constexpr int kLine = 17;
constexpr int kRowHeight = 124;
constexpr int kGap = 30;  // between boxes, and around everything
constexpr int kTop = 60;  // above the first row
constexpr int kPassage = 10;

struct Box {
  int row = 0;
  int x = 0;  // left
  int y = 0;  // top
  int width = 0;
  int height = 0;

  int middle() const { return x + width / 2; }
  int bottom() const { return y + height; }
};

std::string EscapedXml(std::string_view text) {
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

bool Retries(const Task& task) { return !task.next.empty() && task.next.front() == kRetryTask; }

// Its name, its function unless that is the same, its loop, and that it tries again.
std::vector<std::string_view> LinesOf(const Task& task) {
  std::vector<std::string_view> lines = {task.name};
  if (task.route != task.name) lines.push_back(task.route);
  if (!task.loop.text.empty()) lines.push_back(task.loop.text);
  if (Retries(task)) lines.emplace_back("1: @retry");
  return lines;
}

// The order of tasks: along arrows, a join after its branches, and the task after a pipeline after
// its steps.
using Links = std::vector<std::vector<size_t>>;
Links LinksOf(const Flow& flow, const std::vector<Arrow>& arrows) {
  Links links(flow.tasks.size());
  const auto link = [&](TaskIndex from, TaskIndex to) {
    if (from >= 0 && to >= 0) links[static_cast<size_t>(from)].push_back(static_cast<size_t>(to));
  };
  for (const Arrow& arrow : arrows) link(arrow.from, arrow.to);
  for (const Task& task : flow.tasks) {
    if (task.execution == Execution::kFork) {
      for (const TaskIndex branch : task.next) link(branch, task.join);
    }
    for (const TaskIndex step : task.pipeline) link(step, task.next.front());
  }
  return links;
}

// Tasks in an order in which every link leads from an earlier to a later one, except those that
// lead back.
std::vector<size_t> OrderOf(const Flow& flow, const Links& links) {
  std::vector<size_t> order;
  std::vector<bool> seen(links.size(), false);
  std::vector<std::pair<size_t, size_t>> open;  // a task, and how many of its links were followed
  const auto visit = [&](size_t task) {
    if (seen[task]) return;
    seen[task] = true;
    open.emplace_back(task, 0);
    while (!open.empty()) {
      auto& [at, followed] = open.back();
      if (followed == links[at].size()) {
        order.push_back(at);
        open.pop_back();
        continue;
      }
      const size_t next = links[at][followed++];
      if (seen[next]) continue;
      seen[next] = true;
      open.emplace_back(next, 0);
    }
  };
  if (flow.first >= 0) visit(static_cast<size_t>(flow.first));
  if (flow.exception >= 0) visit(static_cast<size_t>(flow.exception));
  for (size_t i = 0; i < links.size(); ++i) visit(i);
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<std::vector<size_t>> RowsOf(const Flow& flow, const Links& links,
                                        std::vector<Box>* boxes) {
  const std::vector<size_t> order = OrderOf(flow, links);
  std::vector<size_t> position(order.size());
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::vector<std::vector<size_t>> rows;
  for (const size_t task : order) {
    const int row = (*boxes)[task].row;
    rows.resize(std::max(rows.size(), static_cast<size_t>(row) + 1));
    rows[static_cast<size_t>(row)].push_back(task);
    for (const size_t next : links[task]) {
      if (position[next] > position[task]) {
        (*boxes)[next].row = std::max((*boxes)[next].row, row + 1);
      }
    }
  }
  return rows;
}

// The places of all boxes. After the boxes of the tasks come narrow ones, through which arrows pass
// a row.
struct Layout {
  std::vector<Box> boxes;
  std::vector<std::vector<size_t>> ways;  // of each arrow: where it begins, passes and ends
  int width = 0;
};

// An arrow over several rows gets a place in each row between.
void AddWays(const std::vector<Arrow>& arrows, Links* links, std::vector<std::vector<size_t>>* rows,
             Layout* layout) {
  for (const Arrow& arrow : arrows) {
    const auto from = static_cast<size_t>(arrow.from);
    const auto to = static_cast<size_t>(arrow.to);
    std::vector<size_t> way = {from};
    for (int row = layout->boxes[from].row + 1; row < layout->boxes[to].row; ++row) {
      const size_t passage = layout->boxes.size();
      layout->boxes.push_back({.row = row, .width = kPassage, .height = 2 * kLine + 12});
      links->emplace_back();
      (*links)[way.back()].push_back(passage);
      (*rows)[static_cast<size_t>(row)].push_back(passage);
      way.push_back(passage);
    }
    if (way.size() > 1) (*links)[way.back()].push_back(to);
    way.push_back(to);
    layout->ways.push_back(std::move(way));
  }
}

void SizeBoxes(const Flow& flow, std::vector<Box>* boxes) {
  for (size_t i = 0; i < boxes->size(); ++i) {
    size_t letters = 0;
    const auto lines = LinesOf(flow.tasks[i]);
    for (const std::string_view line : lines) letters = std::max(letters, line.size());
    (*boxes)[i].width =
        static_cast<int>(std::min<size_t>(letters, 200)) * kCharacter + 2 * kPadding;
    (*boxes)[i].height = static_cast<int>(std::max<size_t>(lines.size(), 2)) * kLine + 12;
  }
}

Layout LayoutOf(const Flow& flow, const std::vector<Arrow>& arrows) {
  Layout layout;
  std::vector<Box>& boxes = layout.boxes;
  boxes.resize(flow.tasks.size());
  SizeBoxes(flow, &boxes);
  Links links = LinksOf(flow, arrows);
  std::vector<std::vector<size_t>> rows = RowsOf(flow, links, &boxes);
  for (std::vector<size_t>& row : rows) std::sort(row.begin(), row.end());
  AddWays(arrows, &links, &rows, &layout);
  std::vector<double> wanted(boxes.size(), 0);  // the middle of those that lead to it
  std::vector<int> leading(boxes.size(), 0);
  for (std::vector<size_t>& row : rows) {
    std::stable_sort(row.begin(), row.end(), [&](size_t a, size_t b) {
      return wanted[a] / std::max(1, leading[a]) < wanted[b] / std::max(1, leading[b]);
    });
    int total = kGap;
    for (const size_t each : row) total += boxes[each].width + kGap;
    int x = kGap - total / 2;
    for (const size_t each : row) {
      Box& box = boxes[each];
      box.x = x;
      box.y = kTop + box.row * kRowHeight;
      x += box.width + kGap;
      for (const size_t next : links[each]) {
        wanted[next] += box.middle();
        ++leading[next];
      }
    }
    layout.width = std::max(layout.width, total);
  }
  for (Box& box : boxes) box.x += layout.width / 2;
  layout.width += kGap;
  return layout;
}

std::string BoxSvg(const Task& task, const Box& box) {
  const int round = task.execution == Execution::kEnd        ? box.height / 2
                    : task.execution == Execution::kDecision ? 0
                                                             : 6;
  std::string out = fmt::format(
      "<g><title>{}: {}</title><rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
      "rx=\"{}\"/>",
      ExecutionName(task.execution), EscapedXml(task.description), ExecutionName(task.execution),
      box.x, box.y, box.width, box.height, round);
  const auto lines = LinesOf(task);
  int y = box.y + (lines.size() == 1 ? 28 : 20);
  for (size_t i = 0; i < lines.size(); ++i, y += kLine) {
    out += fmt::format("<text{} x=\"{}\" y=\"{}\">{}</text>", i == 0 ? "" : " class=\"route\"",
                       box.middle(), y, EscapedXml(lines[i]));
  }
  return out + "</g>\n";
}

std::string LabelSvg(int x, int y, std::string_view text) {
  return fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\">{}</text>\n", x, y, EscapedXml(text));
}

std::string PathSvg(std::string_view kind, std::string_view path) {
  return fmt::format("<path class=\"{}\" marker-end=\"url(#tip)\" d=\"{}\"/>\n", kind, path);
}

std::string CurveTo(const Box& from, const Box& to) {
  const int bend = (to.y - from.bottom()) / 2;
  return fmt::format("C{} {} {} {} {} {}", from.middle(), from.bottom() + bend, to.middle(),
                     to.y - bend, to.middle(), to.y);
}

// An arrow upwards leaves at the side and runs along the edge of the picture. Its label goes to
// `labels`, which are drawn last.
std::string ArrowSvg(const Arrow& arrow, const std::vector<size_t>& way, const Layout& layout,
                     std::string* labels) {
  const std::string_view kind = arrow.kind == Arrow::Kind::kError ? "error" : "next";
  const Box& from = layout.boxes[way.front()];
  const Box& to = layout.boxes[way.back()];
  if (to.row > from.row) {
    std::string path = fmt::format("M{} {} ", from.middle(), from.bottom());
    for (size_t i = 1; i < way.size(); ++i) {
      const Box& box = layout.boxes[way[i]];
      path += CurveTo(layout.boxes[way[i - 1]], box);
      if (i + 1 < way.size()) path += fmt::format(" L{} {} ", box.middle(), box.bottom());
    }
    const Box& first = layout.boxes[way[1]];
    if (!arrow.label.empty()) {
      *labels += LabelSvg((from.middle() + 3 * first.middle()) / 4,
                          first.y - (first.y - from.bottom()) / 4, arrow.label);
    }
    return PathSvg(kind, path);
  }
  const int x1 = from.x + from.width;
  const int x2 = to.x + to.width;
  const int y1 = from.y + from.height / 2;
  const int y2 = to.y + to.height / 2 + (&from == &to ? 12 : 0);
  if (!arrow.label.empty()) *labels += LabelSvg(x1 + kGap / 2, y1 - 8, arrow.label);
  return PathSvg(kind, fmt::format("M{} {} C{} {} {} {} {} {}", x1, y1, layout.width, y1,
                                   layout.width, y2, x2, y2));
}

// From handlers back to the tasks that name them, and that they try again.
void AddRetries(const Flow& flow, std::vector<Arrow>* arrows) {
  for (size_t i = 0; i < flow.tasks.size(); ++i) {
    const TaskIndex handler = flow.tasks[i].exception;
    if (handler < 0 || !Retries(flow.tasks[static_cast<size_t>(handler)])) continue;
    arrows->push_back({handler, static_cast<TaskIndex>(i), "1: @retry"});
  }
}

// Several arrows from one task to another are one.
std::vector<Arrow> Merged(const std::vector<Arrow>& arrows) {
  std::vector<Arrow> merged;
  for (const Arrow& arrow : arrows) {
    const auto same = std::ranges::find_if(merged, [&](const Arrow& other) {
      return other.from == arrow.from && other.to == arrow.to && other.kind == arrow.kind;
    });
    if (same == merged.end()) {
      merged.push_back(arrow);
    } else {
      same->label += (same->label.empty() || arrow.label.empty() ? "" : ", ") + arrow.label;
    }
  }
  return merged;
}

constexpr std::string_view kStyle =
    "<rect width=\"100%\" height=\"100%\" style=\"fill:#fff\"/>\n<style>g "
    "rect{fill:#fff;stroke:#345}.decision{fill:#ffe}.end{fill:#efe}.sink{fill:#eee}"
    ".fork,.parallel,.pipeline{fill:#eef}.response{fill:#eff}path{fill:none;stroke:#345}"
    ".error{stroke:#a33;stroke-dasharray:5 4}circle{fill:#345}"
    "text{font:13px monospace;text-anchor:middle}.route,.label{font-size:11px;fill:#567}"
    ".label{paint-order:stroke;stroke:#fff;stroke-width:4px}"
    "</style>\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
    "markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" "
    "style=\"fill:#345\"/></marker></defs>\n";

// The arrows to the first task and to the flow's exception handler.
std::string EntriesSvg(const Flow& flow, const std::vector<Box>& boxes) {
  const Box& first = boxes[static_cast<size_t>(flow.first)];
  std::string out =
      fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"6\"/>\n", first.middle(), first.y - 34);
  out += PathSvg(
      "next", fmt::format("M{} {} L{} {}", first.middle(), first.y - 28, first.middle(), first.y));
  if (flow.exception < 0) return out;
  const Box& handler = boxes[static_cast<size_t>(flow.exception)];
  const int x = handler.x + handler.width - 12;
  out += PathSvg("error", fmt::format("M{} {} L{} {}", x, handler.y - 28, x, handler.y));
  return out + LabelSvg(x, handler.y - 32, "any error");
}

}  // namespace

std::string SvgOf(const Flow& flow) {
  std::vector<Arrow> all = ArrowsOf(flow);
  AddRetries(flow, &all);
  const std::vector<Arrow> arrows = Merged(all);
  const Layout layout = LayoutOf(flow, arrows);
  int height = 0;
  for (const Box& box : layout.boxes) height = std::max(height, box.bottom() + kGap);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" "
      "height=\"{}\">\n<title>{}</title>\n",
      layout.width, height, layout.width, height, EscapedXml(flow.id));
  out += kStyle;
  std::string labels;
  for (size_t i = 0; i < arrows.size(); ++i) {
    out += ArrowSvg(arrows[i], layout.ways[i], layout, &labels);
  }
  out += EntriesSvg(flow, layout.boxes);
  for (size_t i = 0; i < flow.tasks.size(); ++i) out += BoxSvg(flow.tasks[i], layout.boxes[i]);
  return out + labels + "</svg>\n";
}

}  // namespace sluice::flow
