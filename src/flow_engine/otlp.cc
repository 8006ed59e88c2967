#include "flow_engine/otlp.h"

#include <chrono>

#include "base/log.h"

namespace sluice::flow_engine {
namespace {

constexpr uint64_t kMaxAnswerBytes = 1 << 20;
constexpr uint64_t kTimeoutMs = 10'000;
constexpr uint64_t kLastTimeoutMs = 2'000;  // when the server stops
constexpr uint64_t kPauseMs = 1'000;        // before a second attempt

}  // namespace

OtlpExporter::OtlpExporter(OtlpOptions options)
    : options_(std::move(options)),
      rules_(function::PrivateAddresses::kAllowed),
      client_(rules_, kMaxAnswerBytes),
      thread_({"otlp"}, [this] { Loop(); }) {}

void OtlpExporter::Stop() {
  if (stopping_.exchange(true)) return;
  { const std::lock_guard lock(mutex_); }
  wake_.notify_all();
  thread_.join();
}

void OtlpExporter::Offer(const TracePtr& trace) {
  const bool sampled = (trace->head().link.flags & 1) != 0;
  if (!sampled || stopping_) return;
  bool full_batch = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= options_.max_waiting) {
      ++counts_.dropped;
      return;
    }
    waiting_.push_back(trace);
    full_batch = waiting_.size() == options_.max_batch;
  }
  if (full_batch) wake_.notify_one();
}

std::vector<TracePtr> OtlpExporter::NextBatch() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::milliseconds(options_.interval_ms),
                 [&] { return stopping_ || waiting_.size() >= options_.max_batch; });
  const size_t size = std::min(waiting_.size(), options_.max_batch);
  const auto end = waiting_.begin() + static_cast<ptrdiff_t>(size);
  std::vector<TracePtr> batch(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  return batch;
}

void OtlpExporter::Loop() {
  while (true) {
    const bool last = stopping_;
    const std::vector<TracePtr> batch = NextBatch();
    if (!batch.empty()) Send(batch);
    if (last && (batch.empty() || failing_)) break;
  }
  const std::lock_guard lock(mutex_);
  counts_.dropped += waiting_.size();
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
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::milliseconds(ms), [&] { return stopping_.load(); });
}

}  // namespace sluice::flow_engine
