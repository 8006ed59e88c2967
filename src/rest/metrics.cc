#include "rest/metrics.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::rest {
namespace {

constexpr std::string_view kNoRoute = "(none)";
constexpr std::string_view kClasses[] = {"other", "1xx", "2xx", "3xx", "4xx", "5xx"};

}  // namespace

void AppendMetricHead(std::string_view name, MetricType type, std::string_view help,
                      std::string* out) {
  constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};
  fmt::format_to(std::back_inserter(*out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                 kTypes[static_cast<size_t>(type)]);
}

void AppendSample(std::string_view name, std::string_view labels, uint64_t value,
                  std::string* out) {
  fmt::format_to(std::back_inserter(*out), "{}{} {}\n", name, labels, value);
}

void AppendSample(std::string_view name, std::string_view labels, double value, std::string* out) {
  fmt::format_to(std::back_inserter(*out), "{}{} {}\n", name, labels, value);
}

std::string EscapedLabel(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

Metrics::Series* Metrics::Find(std::string_view path, Method method) {
  const std::pair<std::string_view, Method> label(path, method);
  {
    const ReaderLock lock(mutex_);
    const auto found = series_.find(label);
    if (found != series_.end()) return found->second.get();
  }
  const WriterLock lock(mutex_);
  if (series_.size() >= kMaxSeries) return nullptr;
  auto& series = series_[Label(path, method)];
  if (!series) series = std::make_unique<Series>();
  return series.get();
}

void Metrics::OnRequest(const http::RequestRecord& record) {
  const std::string_view path = record.route != nullptr ? record.route->path : kNoRoute;
  Series* series = Find(path, record.request.method());
  if (series == nullptr) return;
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const auto status_class = static_cast<size_t>(record.status / 100);
  series->by_class[status_class < 6 ? status_class : 0].fetch_add(1, kRelaxed);
  const double seconds = static_cast<double>(record.duration_ns) / 1e9;
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  series->buckets[static_cast<size_t>(bound - kBounds.begin())].fetch_add(1, kRelaxed);
  series->duration_ns.fetch_add(record.duration_ns, kRelaxed);
  series->response_bytes.fetch_add(record.response_bytes, kRelaxed);
  if (record.cancelled) cancelled_.fetch_add(1, kRelaxed);
}

void Metrics::AppendSeries(const Label& label, const Series& series, std::string* requests,
                           std::string* durations, std::string* bytes) const {
  const std::string common =
      fmt::format(R"(route="{}",method="{}")", EscapedLabel(label.first), MethodName(label.second));
  for (size_t i = 0; i < series.by_class.size(); ++i) {
    const uint64_t count = series.by_class[i].load(std::memory_order_relaxed);
    if (count == 0) continue;
    AppendSample("sluice_http_requests_total",
                 fmt::format(R"({{{},status="{}"}})", common, kClasses[i]), count, requests);
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < series.buckets.size(); ++i) {
    sum += series.buckets[i].load(std::memory_order_relaxed);
    const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
    AppendSample("sluice_http_request_duration_seconds_bucket",
                 fmt::format(R"({{{},le="{}"}})", common, bound), sum, durations);
  }
  const std::string labels = "{" + common + "}";
  AppendSample("sluice_http_request_duration_seconds_sum", labels,
               static_cast<double>(series.duration_ns.load(std::memory_order_relaxed)) / 1e9,
               durations);
  AppendSample("sluice_http_request_duration_seconds_count", labels, sum, durations);
  AppendSample("sluice_http_response_bytes_total", labels,
               series.response_bytes.load(std::memory_order_relaxed), bytes);
}

void Metrics::Append(std::string* out) const {
  std::string requests, durations, bytes;
  AppendMetricHead("sluice_http_requests_total", MetricType::kCounter,
                   "Requests answered, by route, method and class of status.", &requests);
  AppendMetricHead("sluice_http_request_duration_seconds", MetricType::kHistogram,
                   "From the request's head to the end of its answer.", &durations);
  AppendMetricHead("sluice_http_response_bytes_total", MetricType::kCounter, "Bytes of answers.",
                   &bytes);
  {
    const ReaderLock lock(mutex_);
    for (const auto& [label, series] : series_) {
      AppendSeries(label, *series, &requests, &durations, &bytes);
    }
  }
  *out += requests;
  *out += durations;
  *out += bytes;
  AppendMetricHead("sluice_http_cancelled_total", MetricType::kCounter,
                   "Requests whose client left before the end.", out);
  AppendSample("sluice_http_cancelled_total", "", cancelled_.load(std::memory_order_relaxed), out);
}

void AppendServerMetrics(const http::Server& server, std::string* out) {
  AppendMetricHead("sluice_http_connections", MetricType::kGauge, "Open connections.", out);
  AppendSample("sluice_http_connections", "", uint64_t{server.connections()}, out);
  AppendMetricHead("sluice_http_body_bytes", MetricType::kGauge,
                   "Memory of large request bodies; http.max_bodies is the limit.", out);
  AppendSample("sluice_http_body_bytes", "", server.body_bytes(), out);
}

}  // namespace sluice::rest
