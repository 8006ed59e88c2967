#include "function/statistics.h"

#include <string>

namespace sluice::function {
namespace {

using json::Value;

struct Entry {
  std::string_view group;  // a group of a group is behind a dot
  std::string_view name;
  Count Statistics::*count;
};

constexpr std::string_view kRun = "execution_stats";
constexpr std::string_view kCurl = "execution_stats.curl";
constexpr std::string_view kFailed = "failure_stats";
constexpr std::string_view kEvents = "event_processing_stats";
constexpr std::string_view kLcb = "lcb_exception_stats";
constexpr std::string_view kFailures = "failures";  // ours

constexpr Entry kEntries[] = {
    {kRun, "on_update_success", &Statistics::on_update_success},
    {kRun, "on_update_failure", &Statistics::on_update_failure},
    {kRun, "on_delete_success", &Statistics::on_delete_success},
    {kRun, "on_delete_failure", &Statistics::on_delete_failure},
    {kRun, "timer_create_counter", &Statistics::timers_created},
    {kRun, "timer_create_failure", &Statistics::timer_create_failures},
    {kRun, "timer_cancel_counter", &Statistics::timers_cancelled},
    {kRun, "timer_msg_counter", &Statistics::timers_due},
    {kRun, "timer_callback_success", &Statistics::timer_success},
    {kRun, "timer_callback_failure", &Statistics::timer_failure},
    {kRun, "processed_events_size", &Statistics::bytes_given},
    {kRun, "curl_success_count", &Statistics::curl_successes},
    {kRun, "agg_queue_size", &Statistics::backlog},
    {kRun, "agg_queue_memory", &Statistics::backlog_bytes},
    {kRun, "filtered_dcp_mutation_counter", &Statistics::updates_filtered},
    {kRun, "filtered_dcp_delete_counter", &Statistics::deletions_filtered},
    {kCurl, "get", &Statistics::curl_get},
    {kCurl, "post", &Statistics::curl_post},
    {kCurl, "put", &Statistics::curl_put},
    {kCurl, "head", &Statistics::curl_head},
    {kCurl, "delete", &Statistics::curl_delete},
    {kFailed, "timeout_count", &Statistics::timeouts},
    {kFailed, "checkpoint_failure_count", &Statistics::commit_failures},
    {kFailed, "bucket_op_exception_count", &Statistics::kv_exceptions},
    {kFailed, "n1ql_op_exception_count", &Statistics::query_exceptions},
    {kFailed, "analytics_op_exception_count", &Statistics::analytics_exceptions},
    {kFailed, "search_op_exception_count", &Statistics::search_exceptions},
    {kFailed, "bkt_ops_cas_mismatch_count", &Statistics::cas_mismatches},
    {kFailed, "bucket_op_cache_miss_count", &Statistics::cache_misses},
    {kFailed, "bucket_cache_overflow_count", &Statistics::cache_overflows},
    {kFailed, "curl_non_200_response", &Statistics::curl_other_statuses},
    {kFailed, "curl_timeout_count", &Statistics::curl_timeouts},
    {kFailed, "curl_failure_count", &Statistics::curl_failures},
    {kFailed, "curl_max_resp_size_exceeded", &Statistics::curl_too_large},
    {kFailed, "timer_callback_missing_counter", &Statistics::timer_callback_missing},
    {kFailed, "timer_context_size_exceeded_counter", &Statistics::timer_contexts_too_large},
    {kEvents, "dcp_mutation_sent_to_worker", &Statistics::updates_given},
    {kEvents, "dcp_deletion_sent_to_worker", &Statistics::deletions_given},
    {kEvents, "dcp_expiration_sent_to_worker", &Statistics::expiries_given},
    {kEvents, "dcp_mutation_suppressed_counter", &Statistics::updates_suppressed},
    {kEvents, "dcp_deletion_suppressed_counter", &Statistics::deletions_suppressed},
    {kEvents, "worker_spawn_counter", &Statistics::workers_started},
    {kEvents, "worker_restart_count", &Statistics::isolates_replaced},
    {kEvents, "commits", &Statistics::commits},
    {kEvents, "conflicts", &Statistics::conflicts},
    {kLcb, "203", &Statistics::invalid_keys},
    {kLcb, "210", &Statistics::no_bucket},
    {kLcb, "211", &Statistics::no_collection},
    {kLcb, "217", &Statistics::no_scope},
    {kLcb, "301", &Statistics::missing_keys},
    {kLcb, "304", &Statistics::values_too_large},
    {kFailures, "retry_success", &Statistics::retry_success},
    {kFailures, "retry_failure", &Statistics::retry_failure},
    {kFailures, "replayed", &Statistics::replayed},
    {kFailures, "dropped", &Statistics::failures_dropped},
    {kFailures, "dropped_by_limit", &Statistics::failures_trimmed},
};

uint64_t Updates(const Statistics& s) { return s.on_update_success + s.on_update_failure; }
uint64_t Deletions(const Statistics& s) { return s.on_delete_success + s.on_delete_failure; }

template <Count Statistics::*kCount>
uint64_t Of(const Statistics& statistics) {
  return statistics.*kCount;
}

using S = Statistics;
constexpr Metric kMetrics[] = {
    {"eventing_on_update_success", "Runs of OnUpdate that ended well.", false,
     Of<&S::on_update_success>},
    {"eventing_on_update_failure", "Runs of OnUpdate that failed.", false,
     Of<&S::on_update_failure>},
    {"eventing_on_delete_success", "Runs of OnDelete that ended well.", false,
     Of<&S::on_delete_success>},
    {"eventing_on_delete_failure", "Runs of OnDelete that failed.", false,
     Of<&S::on_delete_failure>},
    {"eventing_dcp_backlog", "Changes read from the log and not finished.", true, Of<&S::backlog>},
    {"eventing_agg_queue_size", "Changes that wait in the queues of workers.", true,
     Of<&S::backlog>},
    {"eventing_agg_queue_memory", "Bytes of changes that wait in the queues of workers.", true,
     Of<&S::backlog_bytes>},
    {"eventing_dcp_mutations_msg_counter", "Finished inserts and updates.", false, Updates},
    {"eventing_dcp_delete_msg_counter", "Finished deletions and expiries.", false, Deletions},
    {"eventing_dcp_mutation_sent_to_worker", "Inserts and updates given to a worker.", false,
     Of<&S::updates_given>},
    {"eventing_dcp_deletion_sent_to_worker", "Deletions given to a worker.", false,
     Of<&S::deletions_given>},
    {"eventing_dcp_expiry_sent_to_worker", "Expiries given to a worker.", false,
     Of<&S::expiries_given>},
    {"eventing_dcp_mutation_suppressed_counter",
     "Inserts and updates left out because the function made them.", false,
     Of<&S::updates_suppressed>},
    {"eventing_dcp_deletion_suppressed_counter",
     "Deletions left out because the function made them.", false, Of<&S::deletions_suppressed>},
    {"eventing_timer_create_counter", "Timers made.", false, Of<&S::timers_created>},
    {"eventing_timer_create_failure", "Calls of createTimer that were refused.", false,
     Of<&S::timer_create_failures>},
    {"eventing_timer_context_size_exception_counter",
     "Calls of createTimer with a context that is too large.", false,
     Of<&S::timer_contexts_too_large>},
    {"eventing_timer_cancel_counter", "Timers cancelled.", false, Of<&S::timers_cancelled>},
    {"eventing_timer_msg_counter", "Timers that came due.", false, Of<&S::timers_due>},
    {"eventing_timer_callback_success", "Runs of timer callbacks that ended well.", false,
     Of<&S::timer_success>},
    {"eventing_timer_callback_failure", "Runs of timer callbacks that failed.", false,
     Of<&S::timer_failure>},
    {"eventing_timer_callback_missing_counter",
     "Timers dropped because their callback is not in the code.", false,
     Of<&S::timer_callback_missing>},
    {"eventing_timeout_count", "Runs ended by the execution timeout.", false, Of<&S::timeouts>},
    {"eventing_bucket_op_exception_count", "Operations on documents that threw.", false,
     Of<&S::kv_exceptions>},
    {"eventing_n1ql_op_exception_count", "SQL++ statements that threw.", false,
     Of<&S::query_exceptions>},
    {"eventing_analytics_op_exception_count", "Analytics statements that threw.", false,
     Of<&S::analytics_exceptions>},
    {"eventing_search_op_exception_count", "Search queries that threw.", false,
     Of<&S::search_exceptions>},
    {"eventing_bkt_ops_cas_mismatch_count", "Operations refused because of another CAS.", false,
     Of<&S::cas_mismatches>},
    {"eventing_conflicts", "Commits run again after a conflict.", false, Of<&S::conflicts>},
    {"eventing_retry_success", "Runs of failed events again that ended well.", false,
     Of<&S::retry_success>},
    {"eventing_retry_failure", "Runs of failed events again that failed.", false,
     Of<&S::retry_failure>},
    {"eventing_failures_dropped_by_limit", "Failed events dropped because there were too many.",
     false, Of<&S::failures_trimmed>},
    {"eventing_worker_spawn_counter", "Workers started.", false, Of<&S::workers_started>},
    {"eventing_worker_restart_count", "Isolates replaced after a call had used up their memory.",
     false, Of<&S::isolates_replaced>},
    {"eventing_checkpoint_failure_count", "Commits, with their cursors, that the disk refused.",
     false, Of<&S::commit_failures>},
};

Value PrintGroup(const Statistics& statistics, std::string_view group) {
  Value value = Value::EmptyObject();
  for (const Entry& entry : kEntries) {
    if (entry.group == group) {
      value.Set(std::string(entry.name), Value::Unsigned(statistics.*entry.count));
    }
  }
  return value;
}

// Only errors that have occurred, as in Couchbase.
Value PrintLcbExceptions(const Statistics& statistics) {
  Value value = Value::EmptyObject();
  for (const Entry& entry : kEntries) {
    const uint64_t count = statistics.*entry.count;
    if (entry.group == kLcb && count > 0) {
      value.Set(std::string(entry.name), Value::Unsigned(count));
    }
  }
  return value;
}

Value PrintPercentiles(const LatencyHistogram& latency) {
  Value value = Value::EmptyObject();
  for (const int percent : {50, 80, 90, 95, 99, 100}) {
    value.Set(std::to_string(percent), Value::Unsigned(latency.Percentile(percent / 100.0)));
  }
  return value;
}

}  // namespace

void Statistics::Reset() {
  for (const Entry& entry : kEntries) {
    const bool gauge =
        entry.count == &Statistics::backlog || entry.count == &Statistics::backlog_bytes;
    if (!gauge) (this->*entry.count).store(0);
  }
  latency.Reset();
  curl_latency.Reset();
}

Value PrintStatistics(const Statistics& statistics) {
  Value execution = PrintGroup(statistics, kRun);
  Value events = PrintGroup(statistics, kEvents);
  execution.Set("curl", PrintGroup(statistics, kCurl));
  execution.Set("dcp_mutation_msg_counter", Value::Unsigned(Updates(statistics)));
  execution.Set("dcp_delete_msg_counter", Value::Unsigned(Deletions(statistics)));
  execution.Set("num_processed_events",
                Value::Unsigned(Updates(statistics) + Deletions(statistics)));
  const auto read = [&](std::string_view name, uint64_t count) {
    events.Set(std::string(name), Value::Unsigned(count));
  };
  read("dcp_mutation", statistics.updates_given + statistics.updates_suppressed);
  read("dcp_deletion", statistics.deletions_given + statistics.deletions_suppressed);
  read("dcp_expiration", statistics.expiries_given);
  read("dcp_filtered_counter", statistics.updates_filtered + statistics.deletions_filtered);
  // Nothing is sent to a worker but events, and none is lost, to a debugger or to anybody.
  execution.Set("no_op_counter", Value(0));
  Value failed = PrintGroup(statistics, kFailed);
  failed.Set("debugger_events_lost", Value(0));
  execution.Set("messages_parsed",
                Value::Unsigned(statistics.updates_given + statistics.deletions_given +
                                statistics.expiries_given));
  return Value::Object({{"execution_stats", std::move(execution)},
                        {"failure_stats", std::move(failed)},
                        {"lcb_exception_stats", PrintLcbExceptions(statistics)},
                        {"event_processing_stats", std::move(events)},
                        {"failures", PrintGroup(statistics, kFailures)},
                        {"latency_percentile_stats", PrintPercentiles(statistics.latency)},
                        {"latency_stats", statistics.latency.Print()},
                        {"curl_latency_stats", statistics.curl_latency.Print()},
                        {"events_remaining",
                         Value::Object({{"dcp_backlog", Value::Unsigned(statistics.backlog)}})}});
}

std::span<const Metric> Metrics() { return kMetrics; }

}  // namespace sluice::function
