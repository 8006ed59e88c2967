// Sends traces to a collector of OpenTelemetry: OTLP over HTTP, as JSON.
//
// Traces wait in a bounded queue for a thread that sends them in batches; Offer waits for nothing.
// When the collector can't be reached, the thread tries a batch a few times and then drops it.
// Traces that find the queue full are dropped, too. Metrics count dropped traces, and one log line
// says when the trouble begins.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/locked.h"
#include "base/signal.h"
#include "base/thread.h"
#include "flow_engine/trace.h"
#include "function/curl/http_client.h"

namespace sluice::flow_engine {

struct OtlpOptions {
  std::string url;              // such as http://localhost:4318/v1/traces
  size_t max_waiting = 4096;    // traces
  size_t max_batch = 256;       // traces of one request
  uint64_t interval_ms = 1000;  // how long one waits at most to be sent, when nothing is wrong
  int attempts = 3;
};

class OtlpExporter {
 public:
  explicit OtlpExporter(OtlpOptions options, const Clock& clock = MachineClock());
  ~OtlpExporter() { Stop(); }
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  // Any thread. Ignores a trace whose caller did not want it to be sampled.
  void Offer(const TracePtr& trace);
  // Tries once more to send the waiting traces.
  void Stop();

  struct Counts {
    std::atomic<uint64_t> exported{0};  // traces
    std::atomic<uint64_t> dropped{0};
    std::atomic<uint64_t> failures{0};  // requests
  };
  const Counts& counts() const { return counts_; }

 private:
  void Loop();
  std::vector<TracePtr> NextBatch();
  void Send(const std::vector<TracePtr>& batch);
  Status Post(const std::string& body);
  void Pause(uint64_t ms);

  const OtlpOptions options_;
  const Clock& clock_;
  const function::AddressRules rules_;
  function::HttpClient client_;  // of the thread
  bool failing_ = false;         // of the thread
  Counts counts_;
  std::atomic<bool> stopping_{false};
  Locked<std::deque<TracePtr>> waiting_;
  Signal wake_;  // there is a full batch; closed by Stop
  Thread thread_;
};

// The body of a request.
std::string OtlpText(const std::vector<TracePtr>& traces);

}  // namespace sluice::flow_engine
