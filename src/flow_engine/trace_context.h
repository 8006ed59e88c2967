// Traces across servers: W3C's `traceparent` and `tracestate`, and the X-Trace-Id of Event Script.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::flow_engine {

inline constexpr size_t kMaxTraceId = 128;     // of X-Trace-Id
inline constexpr size_t kMaxTraceState = 512;  // longer ones are not passed on

// kOff: there is no trace. kKept: there is one. kTold: functions, and the
// client of an endpoint, get its id, too.
enum class Tracing : uint8_t { kOff, kKept, kTold };

// The trace that something belongs to.
struct TraceLink {
  Tracing tracing = Tracing::kKept;
  std::string id = {};     // empty: a new one
  uint64_t parent = 0;     // the caller's span; 0 when there is none
  uint8_t flags = 1;       // of traceparent; 1: sampled
  std::string state = {};  // tracestate
};

// The span of a call: the parent of all spans that the called side makes. Its texts are borrowed.
struct TraceContext {
  std::string_view id;
  uint64_t span = 0;
  uint8_t flags = 1;
  std::string_view state = {};
};

// Reads a header traceparent; none when it is not valid: then a new trace begins.
std::optional<TraceLink> ParseTraceParent(std::string_view text);
// Whether a text can be a trace's id: printable characters, not too many.
bool IsTraceId(std::string_view text);

// The id as 32 hexadecimal digits. One that has not this form, which X-Trace-Id allows, is hashed.
std::string WireTraceId(std::string_view id);
bool IsWireTraceId(std::string_view id);
std::string SpanText(uint64_t span);
std::string TraceParentOf(const TraceContext& context);

// The span of a call of a run; call 0 is the run itself.
uint64_t SpanOf(std::string_view run, uint64_t call);
// A random id.
std::string NewTraceId();

}  // namespace sluice::flow_engine
