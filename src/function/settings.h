// A function's settings: every one that Couchbase Eventing has, with its default and range. Those
// that mean nothing here are checked, kept and shown, so that a definition comes back as it was
// sent; docs/reference/functions.md lists them with the reason. Unknown ones are kept, too, as
// Couchbase keeps them: each of its versions exports some that no other has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "failure/retry_policy.h"
#include "function/log/function_log.h"
#include "json/value.h"

namespace sluice::function {

enum class Boundary : uint8_t { kEverything, kFromNow };

struct Settings {
  bool deployed = false;    // deployment_status
  bool processing = false;  // processing_status; deployed and not processing is paused
  Boundary boundary = Boundary::kEverything;
  std::string description;
  uint32_t worker_count = 1;  // as it was given; workers() is how many there are
  uint32_t execution_timeout_s = 60;
  uint32_t on_deploy_timeout_s = 60;
  uint32_t timer_context_bytes = 1024;
  uint32_t curl_max_response_mb = 100;
  uint64_t cache_bytes = 64 << 20;  // bucket_cache_size: of what reads with {cache: true} keep
  uint32_t cache_age_ms = 1000;     // bucket_cache_age
  std::string language = "7.2.0";
  std::string consistency = "none";
  std::vector<std::string> handler_headers = {"'use strict';"};
  std::vector<std::string> handler_footers;
  bool sync_documents = true;  // events of Sync Gateway's own documents (_sync:...)
  bool previous = false;       // ours: meta.previous
  LogSettings log;
  // Ours: what becomes of events that fail.
  failure::RetryPolicy retry;
  uint32_t max_failures = 10'000;
  json::Value others;  // an object: what we keep and show but do not act on

  // Events are divided by keys into so many lanes; more workers would have nothing to do.
  static constexpr uint32_t kMostWorkers = 64;
  uint32_t workers() const { return std::min(worker_count, kMostWorkers); }
};

// Members that are missing leave what `settings` has.
enum class UnknownSettings : uint8_t { kKept, kRefused };
Status ParseSettings(const json::Value& value, Settings* settings,
                     UnknownSettings unknown = UnknownSettings::kKept);
// A sentence for each setting that nobody knows.
std::vector<std::string> SettingWarnings(const Settings& settings);
// With the defaults of those that were not given.
json::Value PrintSettings(const Settings& settings);
// Whether all that differs may change while the function runs.
bool OnlyDynamicChanges(const Settings& from, const Settings& to);

}  // namespace sluice::function
