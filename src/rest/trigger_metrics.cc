#include "rest/trigger_metrics.h"

#include <fmt/format.h>

#include "rest/metrics.h"

namespace sluice::rest {
namespace {

using procedure::TriggerProgress;
using TriggerState = TriggerProgress::State;

struct Metric {
  std::string_view name;
  MetricType type;
  std::string_view help;
  uint64_t (*value)(const procedure::TriggerCounts& counts);
};

constexpr Metric kMetrics[] = {
    {"sluice_trigger_handled_total", MetricType::kCounter,
     "Events that a trigger's procedure has handled",
     [](const auto& counts) { return counts.progress.handled; }},
    {"sluice_trigger_failures_total", MetricType::kCounter, "Runs of triggers that failed",
     [](const auto& counts) { return counts.progress.failures; }},
    {"sluice_trigger_conflicts_total", MetricType::kCounter,
     "Commits of triggers that were refused and run again",
     [](const auto& counts) { return counts.progress.conflicts; }},
    {"sluice_trigger_attempts", MetricType::kGauge,
     "Failed attempts for the event at a trigger's head",
     [](const auto& counts) { return uint64_t{counts.progress.attempts()}; }},
    {"sluice_trigger_dead_letters", MetricType::kGauge, "Events that were put aside",
     [](const auto& counts) { return counts.dead_letters; }},
};

constexpr TriggerState kStates[] = {TriggerState::kWaiting, TriggerState::kRunning,
                                    TriggerState::kFailing, TriggerState::kHeld};

}  // namespace

void AppendTriggerMetrics(const procedure::Triggers& triggers, std::string* out) {
  const std::vector<procedure::TriggerCounts> all = triggers.Counts();
  for (const Metric& metric : kMetrics) {
    AppendMetricHead(metric.name, metric.type, metric.help, out);
    for (const procedure::TriggerCounts& counts : all) {
      AppendSample(metric.name, fmt::format(R"({{trigger="{}"}})", EscapedLabel(counts.name)),
                   metric.value(counts), out);
    }
  }
  constexpr std::string_view kState = "sluice_trigger_state";
  AppendMetricHead(kState, MetricType::kGauge, "1 for the state that a trigger is in", out);
  for (const procedure::TriggerCounts& counts : all) {
    for (const TriggerState state : kStates) {
      AppendSample(kState,
                   fmt::format(R"({{trigger="{}",state="{}"}})", EscapedLabel(counts.name),
                               procedure::StateName(state)),
                   uint64_t{counts.progress.state == state}, out);
    }
  }
}

}  // namespace sluice::rest
