// What happened on the HTTP listeners, for /metrics: requests by route, method and status class,
// and how long they took. Labels are bounded: routes come from routers, never from requests.
//
// OnRequest is called by the I/O threads; the rest by any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "http/server.h"
#include "rest/http_types.h"

namespace sluice::rest {

class Metrics final : public http::RequestObserver {
 public:
  void OnRequest(const http::RequestRecord& record) override;

  // In the text format of Prometheus.
  void Append(std::string* out) const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                     0.01,   0.025,   0.1,    0.5,   2.5,    10};
  static constexpr size_t kMaxSeries = 2000;

  struct Series {
    std::array<std::atomic<uint64_t>, 6> by_class{};  // 1xx at 1, ... 5xx at 5
    std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets{};
    std::atomic<uint64_t> duration_ns{0};
    std::atomic<uint64_t> response_bytes{0};
  };
  using Label = std::pair<std::string, Method>;  // route's path, method
  struct LabelLess {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      const std::string_view left = a.first;
      const std::string_view right = b.first;
      return left != right ? left < right : a.second < b.second;
    }
  };

  Series* Find(std::string_view path, Method method);
  void AppendSeries(const Label& label, const Series& series, std::string* requests,
                    std::string* durations, std::string* bytes) const;

  mutable SharedMutex mutex_;
  std::map<Label, std::unique_ptr<Series>, LabelLess> series_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> cancelled_{0};
};

// Helpers for everything that /metrics shows.
enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };
void AppendMetricHead(std::string_view name, MetricType type, std::string_view help,
                      std::string* out);
// `labels` as in {a="b"}, or empty.
void AppendSample(std::string_view name, std::string_view labels, uint64_t value, std::string* out);
void AppendSample(std::string_view name, std::string_view labels, double value, std::string* out);
std::string EscapedLabel(std::string_view value);

// What connections and large bodies take now.
void AppendServerMetrics(const http::Server& server, std::string* out);

}  // namespace sluice::rest
