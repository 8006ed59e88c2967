#include "flow/graph.h"

#include <string_view>
#include <utility>

namespace sluice::flow {
namespace {

// What Mermaid would take for its own, as the entities that it knows.
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

class Drawing {
 public:
  explicit Drawing(const Flow& flow) : flow_(flow) {}

  std::string Draw() {
    out_ = "flowchart TD\n  start(( )) --> t" + fmt::format("{}\n", flow_.first);
    for (size_t i = 0; i < flow_.tasks.size(); ++i) {
      const Task& task = flow_.tasks[i];
      const auto [open, close] = ShapeOf(task);
      const std::string call =
          task.route == task.name ? "" : fmt::format("<br/>{}", Escaped(task.route));
      out_ += fmt::format("  t{}{}\"{}{}\"{}\n", i, open, Escaped(task.name), call, close);
    }
    for (size_t i = 0; i < flow_.tasks.size(); ++i) Arrows(i);
    if (flow_.exception != kNoTask) {
      out_ += fmt::format("  any((any)) -. error .-> t{}\n", flow_.exception);
    }
    return std::move(out_);
  }

 private:
  void Arrow(size_t from, TaskIndex to, std::string_view label) {
    if (to < 0) return;
    const std::string text = label.empty() ? "" : fmt::format("|{}|", label);
    out_ += fmt::format("  t{} -->{} t{}\n", from, text, to);
  }

  void Arrows(size_t index) {
    const Task& task = flow_.tasks[index];
    for (size_t i = 0; i < task.pipeline.size(); ++i) {
      Arrow(index, task.pipeline[i], fmt::format("step {}", i + 1));
    }
    for (size_t i = 0; i < task.next.size(); ++i) {
      const bool decides = task.execution == Execution::kDecision;
      Arrow(index, task.next[i], decides ? fmt::format("{}", i + 1) : "");
    }
    Arrow(index, task.retry_fallback, "1");
    if (task.join != kNoTask) Arrow(index, task.join, "join");
    if (task.exception != kNoTask) {
      out_ += fmt::format("  t{} -. error .-> t{}\n", index, task.exception);
    }
  }

  const Flow& flow_;
  std::string out_;
};

}  // namespace

std::string MermaidOf(const Flow& flow) { return Drawing(flow).Draw(); }

}  // namespace sluice::flow
