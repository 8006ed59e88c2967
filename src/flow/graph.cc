#include "flow/graph.h"

#include <string_view>
#include <utility>

namespace sluice::flow {
namespace {

// Replaces characters with a meaning in Mermaid by entities.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "#quot;";
        break;
      case '#':
        out += "#35;";
        break;
      case '<':
        out += "#lt;";
        break;
      case '>':
        out += "#gt;";
        break;
      case '\n':
        out += ' ';
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::pair<std::string_view, std::string_view> ShapeOf(const Task& task) {
  switch (task.execution) {
    case Execution::kDecision:
      return {"{", "}"};
    case Execution::kEnd:
      return {"([", "])"};
    case Execution::kFork:
    case Execution::kParallel:
      return {"[/", "\\]"};
    case Execution::kPipeline:
      return {"[[", "]]"};
    case Execution::kSink:
      return {"(", ")"};
    default:
      return {"[", "]"};
  }
}

// Arrows of one task.
void AddArrows(const Flow& flow, TaskIndex from, std::vector<Arrow>* arrows) {
  const Task& task = flow.tasks[static_cast<size_t>(from)];
  const auto add = [&](TaskIndex to, std::string label, Arrow::Kind kind = Arrow::Kind::kNext) {
    if (to >= 0) arrows->push_back({from, to, std::move(label), kind});
  };
  for (size_t i = 0; i < task.pipeline.size(); ++i) {
    add(task.pipeline[i], fmt::format("step {}", i + 1));
  }
  for (size_t i = 0; i < task.next.size(); ++i) {
    const bool decides = task.execution == Execution::kDecision;
    add(task.next[i], decides ? fmt::format("{}", i + 1) : "");
  }
  add(task.retry_fallback, "1: no retry");
  add(task.join, "join");
  add(task.exception, "error", Arrow::Kind::kError);
}

}  // namespace

std::vector<Arrow> ArrowsOf(const Flow& flow) {
  std::vector<Arrow> arrows;
  for (size_t i = 0; i < flow.tasks.size(); ++i) {
    AddArrows(flow, static_cast<TaskIndex>(i), &arrows);
  }
  return arrows;
}

std::string MermaidOf(const Flow& flow) {
  std::string out = fmt::format("flowchart TD\n  start(( )) --> t{}\n", flow.first);
  for (size_t i = 0; i < flow.tasks.size(); ++i) {
    const Task& task = flow.tasks[i];
    const auto [open, close] = ShapeOf(task);
    std::string text = Escaped(task.name);
    if (task.route != task.name) text += "<br/>" + Escaped(task.route);
    if (!task.loop.text.empty()) text += "<br/>" + Escaped(task.loop.text);
    out += fmt::format("  t{}{}\"{}\"{}\n", i, open, text, close);
  }
  for (const Arrow& arrow : ArrowsOf(flow)) {
    if (arrow.kind == Arrow::Kind::kError) {
      out += fmt::format("  t{} -. error .-> t{}\n", arrow.from, arrow.to);
    } else {
      const std::string label = arrow.label.empty() ? "" : fmt::format("|{}|", arrow.label);
      out += fmt::format("  t{} -->{} t{}\n", arrow.from, label, arrow.to);
    }
  }
  for (size_t i = 0; i < flow.tasks.size(); ++i) {
    const Task& task = flow.tasks[i];
    if (!task.next.empty() && task.next.front() == kRetryTask) {
      out += fmt::format("  t{} -->|1| retry((retry))\n", i);
    }
  }
  if (flow.exception != kNoTask) {
    out += fmt::format("  any((any)) -. error .-> t{}\n", flow.exception);
  }
  return out;
}

}  // namespace sluice::flow
