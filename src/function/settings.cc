#include "function/settings.h"

#include <algorithm>

#include "base/nearest.h"
#include "function/failure_settings.h"
#include "function/field_reader.h"

namespace sluice::function {
namespace {

using json::Value;

constexpr std::string_view kActedOn[] = {"deployment_status",      "processing_status",
                                         "dcp_stream_boundary",    "description",
                                         "worker_count",           "execution_timeout",
                                         "on_deploy_timeout",      "timer_context_size",
                                         "language_compatibility", "n1ql_consistency",
                                         "handler_headers",        "handler_footers",
                                         "allow_sync_documents",   "curl_max_allowed_resp_size",
                                         "meta_previous",          "bucket_cache_size",
                                         "bucket_cache_age",       "log_level",
                                         "app_log_max_size",       "app_log_max_files",
                                         "enable_applog_rotation"};

// Settings of how Couchbase works inside. Checked, kept and shown.
struct Compatible {
  enum class Kind : uint8_t { kNumber, kFlag, kText };
  std::string_view name;
  Kind kind;
  int64_t fallback = 0;  // shown when it was not given; a flag's is 0 or 1
  int64_t least = 0;
};
using enum Compatible::Kind;
constexpr Compatible kCompatible[] = {
    {"allow_transaction_mutations", kFlag, 0},
    {"app_log_dir", kText},
    {"checkpoint_interval", kNumber, 60, 1},
    {"cpp_worker_thread_count", kNumber, 2, 1},
    {"cursor_aware", kFlag, 0},
    {"cursor_checkpoint_timeout", kNumber, 60, 1},
    {"high_seq_check_interval", kNumber, 15000, 1},
    {"lcb_inst_capacity", kNumber, 10, 1},
    {"lcb_retry_count", kNumber, 0, 0},
    {"lcb_timeout", kNumber, 5, 5},
    {"max_parallel_vb", kNumber, 8, 1},
    {"max_unacked_bytes", kNumber, 0, 0},
    {"max_unacked_count", kNumber, 100000, 1},
    {"message_flush_time", kNumber, 50, 1},
    {"n1ql_prepare_all", kFlag, 0},
    {"num_timer_partitions", kNumber, 1024, 1},
    {"tick_duration", kNumber, 1000, 1},
};

// Settings that older versions export and newer ones pass over.
constexpr std::string_view kObsolete[] = {
    "agg_dcp_feed_mem_cap",
    "auto_swapper",
    "breakpad_on",
    "cleanup_timers",
    "cluster_stats",
    "cron_timers_per_doc",
    "curl_timeout",
    "data_chan_size",
    "dcp_gen_chan_size",
    "dcp_num_connections",
    "dcp_window_size",
    "deadline_timeout",
    "enable_recursive_mutation",
    "enable_snapshot_smr",
    "execute_timer_routine_count",
    "feedback_batch_size",
    "feedback_read_buffer_size",
    "fuzz_offset",
    "idle_checkpoint_interval",
    "lcb_inst_incr_size",
    "lss_cleaner_max_threshold",
    "lss_cleaner_threshold",
    "lss_read_ahead_size",
    "memory_quota",
    "poll_bucket_interval",
    "rbacpass",
    "rbacrole",
    "rbacuser",
    "skip_timer_threshold",
    "sock_batch_size",
    "timer_processing_tick_interval",
    "timer_queue_mem_cap",
    "timer_queue_size",
    "timer_storage_chan_size",
    "timer_storage_routine_count",
    "timer_worker_pool_size",
    "undeploy_routine_count",
    "use_memory_manager",
    "user_prefix",
    "using_timer",
    "vb_ownership_giveup_routine_count",
    "vb_ownership_takeover_routine_count",
    "worker_feedback_queue_cap",
    "worker_queue_cap",
    "worker_queue_mem_cap",
    "worker_response_timeout",
    "xattr_doc_timer_entry_prune_threshold",
};

bool IsCompatible(std::string_view name) {
  return std::ranges::find(kCompatible, name, &Compatible::name) != std::end(kCompatible);
}

bool IsKnown(std::string_view name) {
  return std::ranges::find(kActedOn, name) != std::end(kActedOn) || IsFailureSetting(name) ||
         IsCompatible(name) || std::ranges::find(kObsolete, name) != std::end(kObsolete);
}

std::string UnknownSetting(std::string_view name) {
  std::vector<std::string> known(std::begin(kActedOn), std::end(kActedOn));
  for (const Compatible& one : kCompatible) known.emplace_back(one.name);
  for (const std::string_view one : kFailureSettings) known.emplace_back(one);
  return fmt::format("settings: there is no setting '{}'{}", name, DidYouMean(name, known));
}

void CheckCompatible(FieldReader& reader, const Compatible& setting) {
  switch (setting.kind) {
    case kNumber: {
      uint64_t number = 0;
      return reader.Number(setting.name, static_cast<uint64_t>(setting.least), &number);
    }
    case kFlag: {
      bool flag = false;
      return reader.Flag(setting.name, &flag);
    }
    case kText: {
      std::string text;
      return reader.Text(setting.name, &text);
    }
  }
}

Value DefaultOf(const Compatible& setting) {
  switch (setting.kind) {
    case kNumber:
      return Value(setting.fallback);
    case kFlag:
      return Value(setting.fallback != 0);
    case kText:
      return Value("");
  }
  return Value();
}

void ReadLogSettings(FieldReader& reader, LogSettings* settings) {
  std::string level(LogLevelName(settings->level));
  reader.OneOf("log_level", {"INFO", "ERROR", "WARNING", "DEBUG", "TRACE"}, &level);
  settings->level = LogLevelOf(level);
  reader.Number("app_log_max_size", 1024, &settings->files.max_bytes);
  reader.Number("app_log_max_files", 1, &settings->files.max_files);
  reader.Flag("enable_applog_rotation", &settings->files.rotates);
}

void ReadActedOn(FieldReader& reader, Settings* settings) {
  reader.Flag("deployment_status", &settings->deployed);
  reader.Flag("processing_status", &settings->processing);
  std::string boundary = settings->boundary == Boundary::kEverything ? "everything" : "from_now";
  reader.OneOf("dcp_stream_boundary", {"everything", "from_now", "from_prior"}, &boundary);
  // Older versions say from_prior of what goes on after a pause: it changes nothing.
  if (boundary == "everything") settings->boundary = Boundary::kEverything;
  if (boundary == "from_now") settings->boundary = Boundary::kFromNow;
  reader.Text("description", &settings->description);
  reader.Number("worker_count", 1, &settings->worker_count);
  reader.Number("execution_timeout", 1, &settings->execution_timeout_s);
  reader.Number("on_deploy_timeout", 1, &settings->on_deploy_timeout_s);
  reader.Number("timer_context_size", 20, 20 << 20, &settings->timer_context_bytes);
  reader.Number("curl_max_allowed_resp_size", 0, &settings->curl_max_response_mb);
  reader.Number("bucket_cache_size", 20 << 20, &settings->cache_bytes);
  reader.Number("bucket_cache_age", 1, &settings->cache_age_ms);
  reader.OneOf("language_compatibility", {"6.0.0", "6.5.0", "6.6.2", "7.2.0"}, &settings->language);
  reader.OneOf("n1ql_consistency", {"", "none", "request"}, &settings->consistency);
  if (settings->consistency.empty()) settings->consistency = "none";
  reader.Texts("handler_headers", &settings->handler_headers);
  reader.Texts("handler_footers", &settings->handler_footers);
  reader.Flag("allow_sync_documents", &settings->sync_documents);
  reader.Flag("meta_previous", &settings->previous);
  ReadLogSettings(reader, &settings->log);
  ReadFailureSettings(reader, settings);
}

Value TextList(const std::vector<std::string>& texts) {
  Value list = Value::EmptyArray();
  for (const std::string& text : texts) list.Append(Value(text));
  return list;
}

}  // namespace

Status ParseSettings(const Value& value, Settings* settings, UnknownSettings unknown) {
  if (value.is_missing()) return OkStatus();
  FieldReader reader(value, "settings");
  RETURN_IF_ERROR(reader.status());
  ReadActedOn(reader, settings);
  if (!settings->others.is_object()) settings->others = Value::EmptyObject();
  for (const json::Field& field : value.fields()) {
    if (std::ranges::find(kActedOn, field.name()) != std::end(kActedOn)) continue;
    if (IsFailureSetting(field.name())) continue;
    if (IsCompatible(field.name())) {
      CheckCompatible(reader, *std::ranges::find(kCompatible, field.name(), &Compatible::name));
    } else if (unknown == UnknownSettings::kRefused && !IsKnown(field.name())) {
      return Error(Code::kInvalidArgument, "function.invalid_definition", "{}",
                   UnknownSetting(field.name()));
    }
    settings->others.Set(field.name(), field.value);
  }
  RETURN_IF_ERROR(reader.status());
  if (settings->processing && !settings->deployed) {
    return Error(Code::kInvalidArgument, "function.invalid_definition",
                 "settings: processing_status can't be true while deployment_status is false");
  }
  return OkStatus();
}

std::vector<std::string> SettingWarnings(const Settings& settings) {
  std::vector<std::string> warnings;
  for (const json::Field& field : settings.others.fields()) {
    if (!IsKnown(field.name())) {
      const std::string unknown = UnknownSetting(field.name());
      warnings.push_back(unknown + (unknown.ends_with('?') ? " " : ". ") +
                         "It is kept and changes nothing");
    }
  }
  return warnings;
}

Value PrintSettings(const Settings& settings) {
  Value value = settings.others.is_object() ? settings.others : Value::EmptyObject();
  for (const Compatible& setting : kCompatible) {
    if (value[setting.name].is_missing()) value.Set(setting.name, DefaultOf(setting));
  }
  value.Set("deployment_status", settings.deployed);
  value.Set("processing_status", settings.processing);
  value.Set("dcp_stream_boundary",
            settings.boundary == Boundary::kEverything ? "everything" : "from_now");
  value.Set("description", settings.description);
  value.Set("worker_count", settings.worker_count);
  value.Set("execution_timeout", settings.execution_timeout_s);
  value.Set("on_deploy_timeout", settings.on_deploy_timeout_s);
  value.Set("timer_context_size", settings.timer_context_bytes);
  value.Set("curl_max_allowed_resp_size", settings.curl_max_response_mb);
  value.Set("bucket_cache_size", Value::Unsigned(settings.cache_bytes));
  value.Set("bucket_cache_age", settings.cache_age_ms);
  value.Set("language_compatibility", settings.language);
  value.Set("n1ql_consistency", settings.consistency);
  value.Set("handler_headers", TextList(settings.handler_headers));
  value.Set("handler_footers", TextList(settings.handler_footers));
  value.Set("allow_sync_documents", settings.sync_documents);
  value.Set("log_level", LogLevelName(settings.log.level));
  value.Set("app_log_max_size", settings.log.files.max_bytes);
  value.Set("app_log_max_files", settings.log.files.max_files);
  value.Set("enable_applog_rotation", settings.log.files.rotates);
  if (settings.previous) value.Set("meta_previous", true);
  PrintFailureSettings(settings, &value);
  return value;
}

bool OnlyDynamicChanges(const Settings& from, const Settings& to) {
  Value a = PrintSettings(from);
  Value b = PrintSettings(to);
  for (const std::string_view name : {"deployment_status", "processing_status", "description",
                                      "log_level", "timer_context_size"}) {
    a.Remove(name);
    b.Remove(name);
  }
  for (const std::string_view name : kFailureSettings) {
    a.Remove(name);
    b.Remove(name);
  }
  return a == b;
}

}  // namespace sluice::function
