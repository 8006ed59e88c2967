#include "function/statistics.h"

namespace sluice::function {
namespace {

using json::Value;

Value Number(uint64_t count) { return Value::Unsigned(count); }

Value PrintMethods(const CurlStatistics& curl) {
  return Value::Object({{"get", Number(curl.get)},
                        {"post", Number(curl.post)},
                        {"put", Number(curl.put)},
                        {"head", Number(curl.head)},
                        {"delete", Number(curl.remove)}});
}

}  // namespace

void Statistics::Reset() {
  for (std::atomic<uint64_t>* count : {&on_update_success,
                                       &on_update_failure,
                                       &on_delete_success,
                                       &on_delete_failure,
                                       &timers_created,
                                       &timers_cancelled,
                                       &timers_due,
                                       &timer_success,
                                       &timer_failure,
                                       &timer_callback_missing,
                                       &timer_contexts_too_large,
                                       &timeouts,
                                       &suppressed,
                                       &filtered,
                                       &commits,
                                       &conflicts,
                                       &cache_misses,
                                       &cache_overflows,
                                       &curl.get,
                                       &curl.post,
                                       &curl.put,
                                       &curl.head,
                                       &curl.remove,
                                       &curl.successes,
                                       &curl.other_statuses,
                                       &curl.timeouts,
                                       &curl.too_large,
                                       &curl.failures}) {
    count->store(0);
  }
}

Value PrintStatistics(const Statistics& statistics) {
  const uint64_t updates = statistics.on_update_success + statistics.on_update_failure;
  const uint64_t deletes = statistics.on_delete_success + statistics.on_delete_failure;
  const Value execution =
      Value::Object({{"on_update_success", Number(statistics.on_update_success)},
                     {"on_update_failure", Number(statistics.on_update_failure)},
                     {"on_delete_success", Number(statistics.on_delete_success)},
                     {"on_delete_failure", Number(statistics.on_delete_failure)},
                     {"dcp_mutation_msg_counter", Number(updates)},
                     {"dcp_delete_msg_counter", Number(deletes)},
                     {"timer_create_counter", Number(statistics.timers_created)},
                     {"timer_cancel_counter", Number(statistics.timers_cancelled)},
                     {"timer_msg_counter", Number(statistics.timers_due)},
                     {"timer_callback_success", Number(statistics.timer_success)},
                     {"timer_callback_failure", Number(statistics.timer_failure)},
                     {"num_processed_events", Number(updates + deletes)},
                     {"curl", PrintMethods(statistics.curl)},
                     {"curl_success_count", Number(statistics.curl.successes)},
                     {"agg_queue_size", Number(statistics.backlog)}});
  const Value failures = Value::Object(
      {{"timeout_count", Number(statistics.timeouts)},
       {"bkt_ops_cas_mismatch_count", Number(statistics.conflicts)},
       {"bucket_op_cache_miss_count", Number(statistics.cache_misses)},
       {"bucket_cache_overflow_count", Number(statistics.cache_overflows)},
       {"curl_non_200_response", Number(statistics.curl.other_statuses)},
       {"curl_timeout_count", Number(statistics.curl.timeouts)},
       {"curl_failure_count", Number(statistics.curl.failures)},
       {"curl_max_resp_size_exceeded", Number(statistics.curl.too_large)},
       {"timer_callback_missing_counter", Number(statistics.timer_callback_missing)},
       {"timer_context_size_exceeded_counter", Number(statistics.timer_contexts_too_large)}});
  const Value processing =
      Value::Object({{"dcp_mutation_suppressed_counter", Number(statistics.suppressed)},
                     {"dcp_filtered_counter", Number(statistics.filtered)},
                     {"commits", Number(statistics.commits)}});
  return Value::Object(
      {{"execution_stats", execution},
       {"failure_stats", failures},
       {"event_processing_stats", processing},
       {"events_remaining", Value::Object({{"dcp_backlog", Number(statistics.backlog)}})}});
}

}  // namespace sluice::function
