#include "flow_engine/otlp.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/log.h"

namespace sluice::flow_engine {
namespace {

constexpr uint64_t kMaxAnswerBytes = 1 << 20;
constexpr uint64_t kTimeoutMs = 10'000;
constexpr uint64_t kLastTimeoutMs = 2'000;  // when the server stops
constexpr uint64_t kPauseMs = 1'000;        // before a second attempt

}  // namespace

OtlpExporter::OtlpExporter(OtlpOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      rules_(function::PrivateAddresses::kAllowed),
      client_(rules_, kMaxAnswerBytes),
      wake_(clock),
      thread_({"otlp"}, [this] { Loop(); }) {}

void OtlpExporter::Stop() {
  if (stopping_.exchange(true)) return;
  wake_.Close();
  thread_.join();
}

void OtlpExporter::Offer(const TracePtr& trace) {
  const bool sampled = (trace->head().link.flags & 1) != 0;
  if (!sampled || stopping_) return;
  bool full_batch = false;
  {
    const auto waiting = waiting_.Lock();
    if (waiting->size() >= options_.max_waiting) {
      ++counts_.dropped;
      return;
    }
    waiting->push_back(trace);
    full_batch = waiting->size() == options_.max_batch;
  }
  if (full_batch) wake_.Wake();
}

std::vector<TracePtr> OtlpExporter::NextBatch() {
  const Clock::Time until = clock_.Now() + std::chrono::milliseconds(options_.interval_ms);
  Signal::Waited waited = Signal::Waited::kNews;
  while (waited == Signal::Waited::kNews) {
    const uint64_t seen = wake_.news();
    if (waiting_.Lock()->size() >= options_.max_batch) break;
    waited = wake_.Wait(seen, until);
  }
  const auto waiting = waiting_.Lock();
  const size_t size = std::min(waiting->size(), options_.max_batch);
  const auto end = waiting->begin() + static_cast<ptrdiff_t>(size);
  std::vector<TracePtr> batch(std::move_iterator(waiting->begin()), std::move_iterator(end));
  waiting->erase(waiting->begin(), end);
  return batch;
}

void OtlpExporter::Loop() {
  while (true) {
    const bool last = stopping_;
    const std::vector<TracePtr> batch = NextBatch();
    if (!batch.empty()) Send(batch);
    if (last && (batch.empty() || failing_)) break;
  }
  counts_.dropped += waiting_.Lock()->size();
}

void OtlpExporter::Send(const std::vector<TracePtr>& batch) {
  const std::string body = OtlpText(batch);
  Status status;
  for (int attempt = 1;; ++attempt) {
    const bool last = stopping_ || attempt >= options_.attempts;
    status = Post(body);
    if (status.ok()) break;
    ++counts_.failures;
    if (!std::exchange(failing_, true)) {
      log::Warn("traces can't be exported", {{"url", options_.url}, {"error", status.ToString()}});
    }
    if (last) {
      counts_.dropped += batch.size();
      return;
    }
    Pause(kPauseMs << (attempt - 1));
  }
  counts_.exported += batch.size();
  if (std::exchange(failing_, false)) {
    log::Info("traces are exported again", {{"url", options_.url}});
  }
}

Status OtlpExporter::Post(const std::string& body) {
  static const std::atomic<bool> kNever{false};
  function::HttpRequest request;
  request.method = "POST";
  request.url = options_.url;
  request.headers = {"Content-Type: application/json"};
  request.body = body;
  const bool last = stopping_;
  request.timeout_ms = last ? kLastTimeoutMs : kTimeoutMs;
  ASSIGN_OR_RETURN(const function::HttpResponse response,
                   client_.Send({}, request, last ? kNever : stopping_));
  if (response.status < 300) return OkStatus();
  return Error(Code::kUnavailable, "flow.export_failed", "the collector answered {}",
               response.status);
}

void OtlpExporter::Pause(uint64_t ms) {
  const Clock::Time until = clock_.Now() + std::chrono::milliseconds(ms);
  while (wake_.Wait(wake_.news(), until) == Signal::Waited::kNews) {
  }
}

}  // namespace sluice::flow_engine
