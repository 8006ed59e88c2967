#include "flow_engine/trace.h"

#include <algorithm>

#include "base/utf8.h"
#include "flow/text_form.h"

namespace sluice::flow_engine {
namespace {

// Cut between characters.
std::string Shortened(std::string text) {
  if (text.size() <= kMaxSpanMessage) return text;
  size_t end = kMaxSpanMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

// A failure's text; of an error's body its message.
std::string MessageOf(const json::Value& body) {
  const json::Value& message = body["message"];
  return Shortened(flow::TextOf(message.is_missing() ? body : message));
}

}  // namespace

RunTrace::RunTrace(Head head, std::shared_ptr<const flow::FlowSet> flows)
    : head_(std::move(head)), flows_(std::move(flows)) {
  constexpr size_t kUsual = 4;
  spans_.reserve(kUsual);
}

std::string RunTrace::id() const {
  return head_.link.id.empty() ? WireTraceId(head_.run) : head_.link.id;
}

TraceSpan* RunTrace::Find(uint64_t call) {
  for (auto span = spans_.rbegin(); span != spans_.rend(); ++span) {
    if (span->call == call) return &*span;
  }
  return nullptr;
}

void RunTrace::Add(TraceSpan span) {
  if (spans_.size() >= kMaxSpans) {
    ++left_out_;
    return;
  }
  spans_.push_back(std::move(span));
}

void RunTrace::Note(const flow::Actions& actions, uint64_t now_ns) {
  for (const flow::Action& action : actions) {
    if (const auto* call = std::get_if<flow::Call>(&action)) {
      Add({.call = call->call,
           .frame = call->frame,
           .flow = call->flow,
           .task = call->task,
           .route = call->route,
           .sent_ns = Since(now_ns)});
    } else if (const auto* began = std::get_if<flow::SubflowBegan>(&action)) {
      Add({.call = began->call,
           .frame = began->frame,
           .child = began->child,
           .flow = began->flow,
           .task = began->task,
           .route = began->route,
           .sent_ns = Since(now_ns),
           .began_ns = std::max<uint64_t>(1, Since(now_ns))});
    } else if (const auto* ended = std::get_if<flow::SubflowEnded>(&action)) {
      if (TraceSpan* const span = Find(ended->call)) {
        span->ended_ns = Since(now_ns);
        span->status = ended->status;
      }
    } else if (const auto* abandoned = std::get_if<flow::Abandon>(&action)) {
      if (TraceSpan* const span = Find(abandoned->call)) span->ended_ns = Since(now_ns);
    }
  }
}

void RunTrace::Began(uint64_t call, uint64_t now_ns) {
  TraceSpan* const span = Find(call);
  if (span == nullptr) return;
  if (span->began_ns == 0) span->began_ns = std::max<uint64_t>(1, Since(now_ns));
  span->ended_ns = 0;  // called again after a conflict
}

void RunTrace::Answered(const flow::TaskResult& result, uint64_t now_ns) {
  TraceSpan* const span = Find(result.call);
  if (span == nullptr || span->ended_ns != 0) return;  // nobody waits for it any more
  span->ended_ns = Since(now_ns);
  span->status = result.status;
  if (result.status >= 400) span->message = MessageOf(result.body);
}

void RunTrace::Finish(const flow::RunState& state, uint64_t now_ns) {
  duration_ns_ = Since(now_ns);
  status_ = state.status;
  message_ = Shortened(state.message);
}

uint64_t RunTrace::ParentOf(const TraceSpan& span) const {
  for (const TraceSpan& each : spans_) {
    if (each.child != 0 && each.child == span.frame) return SpanOf(head_.run, each.call);
  }
  return root_span();
}

TracePtr TraceStore::Push(Ring& ring, size_t most, Entry entry) {
  if (ring.entries.size() < most) {
    ring.entries.push_back(std::move(entry));
    return nullptr;
  }
  std::swap(ring.entries[ring.next], entry);
  ring.next = (ring.next + 1) % most;
  return std::move(entry.trace);
}

void TraceStore::Add(TracePtr trace) {
  if (kept_ == 0) return;
  TracePtr old;  // ends after the lock
  const bool failed = trace->failed();
  const auto traces = traces_.Lock();
  old = Push(failed ? traces->failed : traces->good, kept_, {++traces->added, std::move(trace)});
}

std::vector<TraceStore::Entry> TraceStore::All() const {
  std::vector<Entry> all;
  {
    const auto traces = traces_.Lock();
    all = traces->good.entries;
    all.insert(all.end(), traces->failed.entries.begin(), traces->failed.entries.end());
  }
  std::ranges::sort(all, {}, &Entry::number);
  return all;
}

std::vector<TracePtr> TraceStore::List(const Filter& filter) const {
  std::vector<TracePtr> found;
  std::vector<Entry> all = All();
  for (auto entry = all.rbegin(); entry != all.rend() && found.size() < filter.limit; ++entry) {
    const RunTrace& trace = *entry->trace;
    if (!filter.flow.empty() && trace.head().flow != filter.flow) continue;
    if (trace.duration_ns() < filter.least_ns || (filter.failed && !trace.failed())) continue;
    found.push_back(std::move(entry->trace));
  }
  return found;
}

std::vector<TracePtr> TraceStore::Find(std::string_view id) const {
  std::vector<TracePtr> found;
  for (Entry& entry : All()) {
    if (entry.trace->head().run == id || entry.trace->id() == id) {
      found.push_back(std::move(entry.trace));
    }
  }
  return found;
}

}  // namespace sluice::flow_engine
