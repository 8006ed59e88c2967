#include "rest/function_metrics.h"

#include <fmt/format.h>

#include "rest/metrics.h"

namespace sluice::rest {

void AppendFunctionMetrics(const function::Manager& manager, std::string* out) {
  for (const function::Metric& metric : function::Metrics()) {
    AppendMetricHead(metric.name, metric.gauge ? MetricType::kGauge : MetricType::kCounter,
                     metric.help, out);
    manager.VisitStatistics([&](const std::string& name, const function::Statistics& statistics) {
      AppendSample(metric.name, fmt::format(R"({{functionName="{}"}})", EscapedLabel(name)),
                   metric.value(statistics), out);
    });
  }
}

}  // namespace sluice::rest
