// ExportTraceServiceRequest as JSON: ids in hexadecimal digits, times as texts of nanoseconds since
// 1970, enums as numbers.
#include "flow_engine/otlp.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using json::Value;

enum Kind : int { kInternal = 1, kServer = 2 };
constexpr int kStatusError = 2;

void AddText(std::string_view key, std::string_view text, Value* attributes) {
  attributes->Append(
      Value::Object({{"key", key}, {"value", Value::Object({{"stringValue", text}})}}));
}

void AddNumber(std::string_view key, uint64_t number, Value* attributes) {
  // 64-bit numbers are texts in JSON of Protocol Buffers.
  attributes->Append(Value::Object(
      {{"key", key}, {"value", Value::Object({{"intValue", std::to_string(number)}})}}));
}

struct Times {
  uint64_t begin_ns;
  uint64_t end_ns;
};

Value SpanValue(const RunTrace& trace, uint64_t span, uint64_t parent, std::string_view name,
                Kind kind, Times times) {
  Value value = Value::Object({{"traceId", WireTraceId(trace.id())},
                               {"spanId", SpanText(span)},
                               {"name", name},
                               {"kind", static_cast<int>(kind)},
                               {"startTimeUnixNano", std::to_string(times.begin_ns)},
                               {"endTimeUnixNano", std::to_string(times.end_ns)}});
  if (parent != 0) value.Set("parentSpanId", Value(SpanText(parent)));
  return value;
}

void SetOutcome(int status, const std::string& message, Value attributes, Value* span) {
  if (status != 0) AddNumber("sluice.status", static_cast<uint64_t>(status), &attributes);
  span->Set("attributes", std::move(attributes));
  if (status >= 400 || !message.empty()) {
    span->Set("status", Value::Object({{"code", kStatusError}, {"message", message}}));
  }
}

void AddSpans(const RunTrace& trace, Value* spans) {
  const RunTrace::Head& head = trace.head();
  Value root = SpanValue(trace, trace.root_span(), head.link.parent, head.flow, kServer,
                         {head.wall_ns, head.wall_ns + trace.duration_ns()});
  if (!head.link.state.empty()) root.Set("traceState", Value(head.link.state));
  Value attributes = Value::EmptyArray();
  AddText("sluice.flow", head.flow, &attributes);
  AddText("sluice.run", head.run, &attributes);
  AddText("sluice.origin", head.origin, &attributes);
  SetOutcome(trace.status(), trace.message(), std::move(attributes), &root);
  spans->Append(std::move(root));
  for (const TraceSpan& span : trace.spans()) {
    const uint64_t ended_ns = span.ended_ns == 0 ? trace.duration_ns() : span.ended_ns;
    const uint64_t began_ns = span.began_ns == 0 ? ended_ns : span.began_ns;
    Value value = SpanValue(trace, SpanOf(head.run, span.call), trace.ParentOf(span), span.task,
                            kInternal, {head.wall_ns + span.sent_ns, head.wall_ns + ended_ns});
    Value more = Value::EmptyArray();
    AddText("sluice.flow", span.flow, &more);
    AddText("sluice.route", span.route, &more);
    AddNumber("sluice.waited_ns", began_ns - span.sent_ns, &more);
    SetOutcome(span.status, span.message, std::move(more), &value);
    spans->Append(std::move(value));
  }
}

}  // namespace

std::string OtlpText(const std::vector<TracePtr>& traces) {
  Value spans = Value::EmptyArray();
  for (const TracePtr& trace : traces) AddSpans(*trace, &spans);
  Value resource = Value::EmptyArray();
  AddText("service.name", "sluice", &resource);
  const Value scope =
      Value::Object({{"scope", Value::Object({{"name", "sluice.flows"}})}, {"spans", spans}});
  return json::ToText(Value::Object(
      {{"resourceSpans",
        Value::Array({Value::Object({{"resource", Value::Object({{"attributes", resource}})},
                                     {"scopeSpans", Value::Array({scope})}})})}}));
}

}  // namespace sluice::flow_engine
