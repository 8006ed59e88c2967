// What a function counts. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "json/value.h"

namespace sluice::function {

// HTTP requests of handlers.
struct CurlStatistics {
  std::atomic<uint64_t> get{0};
  std::atomic<uint64_t> post{0};
  std::atomic<uint64_t> put{0};
  std::atomic<uint64_t> head{0};
  std::atomic<uint64_t> remove{0};     // DELETE
  std::atomic<uint64_t> successes{0};  // answered with 200
  std::atomic<uint64_t> other_statuses{0};
  std::atomic<uint64_t> timeouts{0};
  std::atomic<uint64_t> too_large{0};
  std::atomic<uint64_t> failures{0};  // all others that have no response
};

struct Statistics {
  std::atomic<uint64_t> on_update_success{0};
  std::atomic<uint64_t> on_update_failure{0};
  std::atomic<uint64_t> on_delete_success{0};
  std::atomic<uint64_t> on_delete_failure{0};
  std::atomic<uint64_t> timers_created{0};
  std::atomic<uint64_t> timers_cancelled{0};
  std::atomic<uint64_t> timers_due{0};
  std::atomic<uint64_t> timer_success{0};
  std::atomic<uint64_t> timer_failure{0};
  std::atomic<uint64_t> timer_callback_missing{0};
  std::atomic<uint64_t> timer_contexts_too_large{0};
  std::atomic<uint64_t> timeouts{0};
  std::atomic<uint64_t> suppressed{0};  // changes that the function made itself
  std::atomic<uint64_t> filtered{0};    // changes that a setting leaves out
  std::atomic<uint64_t> commits{0};
  std::atomic<uint64_t> conflicts{0};  // commits that were run again
  std::atomic<uint64_t> backlog{0};    // read from the log and not done with
  std::atomic<uint64_t> cache_misses{0};
  std::atomic<uint64_t> cache_overflows{0};  // documents that made others leave, or did not fit
  CurlStatistics curl;

  // All but the backlog begin at 0 again.
  void Reset();
};

// In the shape and with the names of Couchbase, as far as it is counted here.
json::Value PrintStatistics(const Statistics& statistics);

}  // namespace sluice::function
