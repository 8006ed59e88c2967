// Traces as JSON: microseconds, and spans inside the span that called them.
#include "flow_engine/trace.h"

namespace sluice::flow_engine {
namespace {

using json::Value;

constexpr uint64_t kUs = 1000;
constexpr uint64_t kMs = 1'000'000;

Value Number(uint64_t number) { return Value::Unsigned(number); }

// Spans of the flow instance `frame`, in the order in which they were called.
Value SpansOf(const RunTrace& trace, uint64_t frame, bool root) {
  Value list = Value::EmptyArray();
  for (const TraceSpan& span : trace.spans()) {
    // Spans of a sub-flow that is not among the spans itself are shown under the run.
    const bool orphan = root && trace.ParentOf(span) == trace.root_span();
    if (!orphan && (root || span.frame != frame)) continue;
    const uint64_t ended_ns = span.ended_ns == 0 ? trace.duration_ns() : span.ended_ns;
    const uint64_t began_ns = span.began_ns == 0 ? ended_ns : span.began_ns;
    Value view = Value::Object({{"span", SpanText(SpanOf(trace.head().run, span.call))},
                                {"task", span.task},
                                {"flow", span.flow},
                                {"route", span.route},
                                {"start_us", Number(span.sent_ns / kUs)},
                                {"waited_us", Number((began_ns - span.sent_ns) / kUs)},
                                {"ran_us", Number((ended_ns - began_ns) / kUs)}});
    view.Set("status", span.status == 0 ? Value(nullptr) : Value(span.status));
    if (!span.message.empty()) view.Set("message", Value(span.message));
    if (span.child != 0) view.Set("spans", SpansOf(trace, span.child, false));
    list.Append(std::move(view));
  }
  return list;
}

}  // namespace

Value SummaryOf(const RunTrace& trace) {
  Value view = Value::Object({{"trace", trace.id()},
                              {"run", trace.head().run},
                              {"flow", trace.head().flow},
                              {"origin", trace.head().origin},
                              {"started_ms", Number(trace.head().wall_ns / kMs)},
                              {"duration_us", Number(trace.duration_ns() / kUs)},
                              {"status", trace.status()},
                              {"failed", trace.failed()},
                              {"tasks", Number(trace.spans().size() + trace.left_out())}});
  if (!trace.message().empty()) view.Set("message", Value(trace.message()));
  return view;
}

Value ViewOf(const RunTrace& trace) {
  Value view = SummaryOf(trace);
  view.Set("span", Value(SpanText(trace.root_span())));
  if (trace.head().link.parent != 0) {
    view.Set("parent", Value(SpanText(trace.head().link.parent)));
  }
  if (trace.left_out() > 0) view.Set("left_out", Number(trace.left_out()));
  view.Set("spans", SpansOf(trace, 0, true));
  return view;
}

}  // namespace sluice::flow_engine
