// A function's settings: all of Couchbase Eventing, with their defaults and ranges. Some of them
// have no meaning in this server. They are checked, kept and shown, so that a definition comes back
// as it was sent; docs/reference/functions.md lists them with the reason. Unknown settings are
// kept, too, as in Couchbase: each of its versions exports settings that no other version has.
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
  bool processing = false;  // processing_status; a deployed function without it is paused
  Boundary boundary = Boundary::kEverything;
  std::string description;
  uint32_t worker_count = 1;  // as it was given; workers() is the number of threads
  uint32_t execution_timeout_s = 60;
  uint32_t on_deploy_timeout_s = 60;
  uint32_t timer_context_bytes = 1024;
  uint32_t curl_max_response_mb = 100;
  uint64_t cache_bytes = 64 << 20;  // bucket_cache_size: of reads with {cache: true}
  uint32_t cache_age_ms = 1000;     // bucket_cache_age
  std::string language = "7.2.0";
  std::string consistency = "none";
  std::vector<std::string> handler_headers = {"'use strict';"};
  std::vector<std::string> handler_footers;
  bool sync_documents = true;  // hears of Sync Gateway's own documents (_sync:...)
  bool previous = false;       // not Couchbase's: handlers get meta.previous
  LogSettings log;
  // Not Couchbase's: how failed events are tried again, and how many of them are kept.
  failure::RetryPolicy retry;
  uint32_t max_failures = 10'000;
  json::Value others;  // an object: the settings that are kept and shown but have no effect

  // Events are divided by key into this many lanes; more workers would have nothing to do.
  static constexpr uint32_t kMostWorkers = 64;
  uint32_t workers() const { return std::min(worker_count, kMostWorkers); }
};

// A missing member leaves the value in `settings` as it is.
enum class UnknownSettings : uint8_t { kKept, kRefused };
Status ParseSettings(const json::Value& value, Settings* settings,
                     UnknownSettings unknown = UnknownSettings::kKept);
// A sentence for each unknown setting.
std::vector<std::string> SettingWarnings(const Settings& settings);
// With defaults for the settings that were not given.
json::Value PrintSettings(const Settings& settings);
// Whether every setting that differs may change while the function runs.
bool OnlyDynamicChanges(const Settings& from, const Settings& to);

}  // namespace sluice::function
