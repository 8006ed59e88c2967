// The trace of a run: when its tasks were called, began and ended. While the run goes on, the run's
// mutex guards its trace; afterwards the trace is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/locked.h"
#include "flow/run.h"
#include "flow_engine/trace_context.h"
#include "json/value.h"

namespace sluice::flow_engine {

inline constexpr size_t kMaxSpans = 1000;  // of one trace
inline constexpr size_t kMaxSpanMessage = 500;

// A call of a function, or of a sub-flow. Times are nanoseconds since the run's beginning.
struct TraceSpan {
  uint64_t call = 0;
  uint64_t frame = 0;  // the flow instance that calls
  uint64_t child = 0;  // of a sub-flow: the flow instance that it is
  std::string_view flow;
  std::string_view task;
  std::string_view route;
  uint64_t sent_ns = 0;
  uint64_t began_ns = 0;  // 0: it never found a free instance
  uint64_t ended_ns = 0;  // 0: the run ended before
  int status = 0;         // 0: nobody waited for its answer
  std::string message = {};
};

class RunTrace {
 public:
  // Of a run that begins now.
  struct Head {
    std::string run;
    std::string flow;
    std::string origin;
    TraceLink link;
    uint64_t wall_ns = 0;
    uint64_t monotonic_ns = 0;
  };
  // The texts of spans are in `flows`.
  RunTrace(Head head, std::shared_ptr<const flow::FlowSet> flows);

  // Notes the actions of a step. `now_ns` is monotonic time.
  void Note(const flow::Actions& actions, uint64_t now_ns);
  void Began(uint64_t call, uint64_t now_ns);
  void Answered(const flow::TaskResult& result, uint64_t now_ns);
  void Finish(const flow::RunState& state, uint64_t now_ns);

  const Head& head() const { return head_; }
  std::string id() const;
  uint64_t root_span() const { return SpanOf(head_.run, 0); }
  uint64_t duration_ns() const { return duration_ns_; }
  int status() const { return status_; }
  const std::string& message() const { return message_; }
  bool failed() const { return status_ >= 400 || !message_.empty(); }
  const std::vector<TraceSpan>& spans() const { return spans_; }
  size_t left_out() const { return left_out_; }  // spans past the bound
  // The context of calls that the call's function makes. Its texts live as long as the trace.
  TraceContext ContextOf(uint64_t call) const {
    const TraceLink& link = head_.link;
    return {link.id.empty() ? head_.run : link.id, SpanOf(head_.run, call), link.flags, link.state};
  }
  // The link of calls and runs that this run starts.
  TraceLink Link() const {
    return {head_.link.tracing, id(), root_span(), head_.link.flags, head_.link.state};
  }
  // The span of the flow instance that a span belongs to: its parent.
  uint64_t ParentOf(const TraceSpan& span) const;

 private:
  TraceSpan* Find(uint64_t call);
  void Add(TraceSpan span);
  uint64_t Since(uint64_t now_ns) const { return now_ns - head_.monotonic_ns; }

  const Head head_;
  const std::shared_ptr<const flow::FlowSet> flows_;
  std::vector<TraceSpan> spans_;
  size_t left_out_ = 0;
  uint64_t duration_ns_ = 0;
  int status_ = 0;
  std::string message_;
};
using TracePtr = std::shared_ptr<const RunTrace>;

// The latest traces, and apart from them the latest of runs that failed, so that many good runs do
// not push out a bad one. Any thread.
class TraceStore {
 public:
  explicit TraceStore(size_t kept) : kept_(kept) {}

  size_t kept() const { return kept_; }
  void Add(TracePtr trace);

  struct Filter {
    std::string flow = {};  // empty: all
    uint64_t least_ns = 0;
    bool failed = false;  // only those
    size_t limit = 100;
  };
  // The newest first.
  std::vector<TracePtr> List(const Filter& filter) const;
  // Those with this trace's id, or the one of this run; the oldest first.
  std::vector<TracePtr> Find(std::string_view id) const;

 private:
  struct Entry {
    uint64_t number = 0;
    TracePtr trace;
  };
  struct Ring {
    std::vector<Entry> entries;
    size_t next = 0;
  };
  struct Kept {
    uint64_t added = 0;
    Ring good;
    Ring failed;
  };
  std::vector<Entry> All() const;
  static TracePtr Push(Ring& ring, size_t most, Entry entry);

  const size_t kept_;  // at most, in each ring
  Locked<Kept> traces_;
};

// As people see them: in a list, and with a tree of spans.
json::Value SummaryOf(const RunTrace& trace);
json::Value ViewOf(const RunTrace& trace);

}  // namespace sluice::flow_engine
