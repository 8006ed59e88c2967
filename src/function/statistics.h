// The counters of a function. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "function/latency.h"
#include "json/value.h"

namespace sluice::function {

using Count = std::atomic<uint64_t>;

struct Statistics {
  Count on_update_success{0};
  Count on_update_failure{0};
  Count on_delete_success{0};
  Count on_delete_failure{0};
  Count updates_given{0};  // to a worker
  Count deletions_given{0};
  Count expiries_given{0};
  Count bytes_given{0};
  Count timers_created{0};
  Count timer_create_failures{0};
  Count timers_cancelled{0};
  Count timers_due{0};
  Count timer_success{0};
  Count timer_failure{0};
  Count timer_callback_missing{0};
  Count timer_contexts_too_large{0};
  Count timeouts{0};
  Count updates_suppressed{0};  // changes that the function made itself
  Count deletions_suppressed{0};
  Count updates_filtered{0};  // changes that a setting leaves out
  Count deletions_filtered{0};
  Count commits{0};
  Count commit_failures{0};  // the disk is full, say: cursors did not move
  Count conflicts{0};        // refused commits, whose events ran again
  Count backlog{0};          // events that were read from the log and not handled yet
  Count backlog_bytes{0};
  Count kv_exceptions{0};
  // The part of kv_exceptions that libcouchbase has an error number for, by error.
  Count invalid_keys{0};
  Count no_bucket{0};
  Count missing_keys{0};  // only of language versions where that throws
  Count no_collection{0};
  Count no_scope{0};
  Count values_too_large{0};
  Count query_exceptions{0};
  Count analytics_exceptions{0};
  Count search_exceptions{0};
  Count cas_mismatches{0};  // that couchbase.* functions returned
  Count cache_misses{0};
  Count cache_overflows{0};  // documents that made others leave, or did not fit
  Count workers_started{0};
  Count isolates_replaced{0};  // because a call had used up their memory
  // HTTP requests of handlers.
  Count curl_get{0};
  Count curl_post{0};
  Count curl_put{0};
  Count curl_head{0};
  Count curl_delete{0};
  Count curl_successes{0};  // answered with 200
  Count curl_other_statuses{0};
  Count curl_timeouts{0};
  Count curl_too_large{0};
  Count curl_failures{0};  // without a response, for other reasons
  Count retry_success{0};
  Count retry_failure{0};
  Count replayed{0};              // failures that an operator had tried again
  Count failures_dropped{0};      // by an operator
  Count failures_trimmed{0};      // because there were too many
  LatencyHistogram latency;       // of invocations
  LatencyHistogram curl_latency;  // of requests

  // Sets all to 0 but the backlog and its bytes.
  void Reset();
};

// In the shape and with the names that Couchbase has, as far as this server counts.
json::Value PrintStatistics(const Statistics& statistics);

// The counts that Couchbase shows to Prometheus, with its names.
struct Metric {
  std::string_view name;
  std::string_view help;
  bool gauge = false;
  uint64_t (*value)(const Statistics& statistics) = nullptr;
};
std::span<const Metric> Metrics();

}  // namespace sluice::function
