#include "rest/flow_metrics.h"

#include "rest/metrics.h"

namespace sluice::rest {

void AppendTraceMetrics(const flow_engine::OtlpExporter& exporter, std::string* out) {
  const auto append = [&](std::string_view name, std::string_view help, uint64_t value) {
    AppendMetricHead(name, MetricType::kCounter, help, out);
    AppendSample(name, "", value, out);
  };
  const flow_engine::OtlpExporter::Counts& counts = exporter.counts();
  append("sluice_flow_traces_exported_total", "Traces that the collector took", counts.exported);
  append("sluice_flow_traces_dropped_total",
         "Traces that were not exported: the queue was full, or the collector failed",
         counts.dropped);
  append("sluice_flow_trace_export_failures_total", "Requests that the collector did not take",
         counts.failures);
}

void AppendFlowMetrics(flow_engine::Host& host, std::string* out) {
  const auto append = [&](std::string_view name, MetricType type, std::string_view help,
                          uint64_t value) {
    AppendMetricHead(name, type, help, out);
    AppendSample(name, "", value, out);
  };
  constexpr MetricType kCounter = MetricType::kCounter;
  constexpr MetricType kGauge = MetricType::kGauge;
  const flow_engine::Engine::Counts& counts = host.engine().counts();
  append("sluice_flow_runs_started_total", kCounter, "Runs of flows that were started",
         counts.started);
  append("sluice_flow_runs_completed_total", kCounter, "Runs of flows that reached their end",
         counts.completed);
  append("sluice_flow_runs_failed_total", kCounter,
         "Runs of flows that were aborted, timed out or cancelled", counts.failed);
  append("sluice_flow_runs", kGauge, "Runs of flows in memory", host.engine().running());
  append("sluice_flow_durable_runs_started_total", kCounter, "Durable runs that were started",
         counts.durable_started);
  append("sluice_flow_durable_runs_resumed_total", kCounter,
         "Durable runs that went on after a restart or a retry", counts.durable_resumed);
  append("sluice_flow_durable_runs", kGauge, "Durable runs in memory",
         host.engine().running_durable());
  append("sluice_flow_durable_runs_parked", kGauge,
         "Durable runs that wait for a time that is far away, and are not in memory",
         host.runs().parked());
  append("sluice_flow_durable_steps_total", kCounter, "Tasks of durable runs that are over",
         counts.durable_steps);
}

}  // namespace sluice::rest
