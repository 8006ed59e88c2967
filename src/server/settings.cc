#include "server/settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>

#include "base/quantity.h"
#include "db/types.h"

namespace sluice::server {
namespace {

constexpr uint64_t kSecond = 1000;
constexpr uint64_t kHour = 3600 * kSecond;
constexpr uint64_t kDay = 24 * kHour;
constexpr uint64_t kKiB = 1 << 10;
constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kTiB = 1ull << 40;

constexpr SectionHelp kSections[] = {
    {"data", "The place of the data."},
    {"listen", "Addresses to listen on, as `HOST:PORT`. Port 0 picks a free one."},
    {"tls", "A certificate for all listeners. Without one they speak plain HTTP."},
    {"storage", "How the server stores documents."},
    {"http", "Limits of the listeners."},
    {"query", "Limits of SQL++ statements."},
    {"procedures", "Limits of Lua: procedures, triggers, consumers and functions of SQL."},
    {"functions", "Limits and permissions of JavaScript functions."},
    {"flows", "Limits of flows and of their durable runs."},
    {"log", "The server's log, which goes to standard error."},
    {"backup", "Backups that clients request."},
};

constexpr std::string_view kDurabilities[] = {"sync", "interval", "none"};
constexpr std::string_view kLevels[] = {"debug", "info", "warn", "error"};
constexpr std::string_view kYesNo[] = {"true", "false"};
constexpr std::string_view kFormats[] = {"text", "json"};

using T = SettingType;
constexpr Setting kSettings[] = {
    {.name = "data.directory",
     .type = T::kPath,
     .member = &Config::data_directory,
     .fallback = "sluice-data",
     .flag = "--data",
     .help = "The data directory. The server makes it if it does not exist. With `--dev` the "
             "default is `.sluice` in the app directory."},

    {.name = "listen.http",
     .type = T::kAddress,
     .member = &Config::listen_http,
     .fallback = "127.0.0.1:8091",
     .flag = "--http",
     .help = "Admin and document REST, metrics, health."},
    {.name = "listen.eventing",
     .type = T::kAddress,
     .member = &Config::listen_eventing,
     .fallback = "127.0.0.1:8096",
     .flag = "--eventing",
     .help = "Eventing REST."},
    {.name = "listen.flows",
     .type = T::kAddress,
     .member = &Config::listen_flows,
     .fallback = "127.0.0.1:8100",
     .flag = "--flows",
     .help = "REST endpoints of flows."},

    {.name = "tls.certificate",
     .type = T::kPath,
     .member = &Config::tls_certificate,
     .fallback = "",
     .help = "PEM file with the certificate and its chain up to the root. Needs `tls.key`."},
    {.name = "tls.key",
     .type = T::kPath,
     .member = &Config::tls_key,
     .fallback = "",
     .help = "PEM file with the certificate's private key."},

    {.name = "storage.durability",
     .type = T::kChoice,
     .member = &Config::storage_durability,
     .fallback = "sync",
     .choices = kDurabilities,
     .help =
         "When the server acknowledges a write. `sync`: when it is on disk. `interval`: when it is "
         "written; it is on disk within `storage.sync_interval`. `none`: when it is written."},
    {.name = "storage.sync_interval",
     .type = T::kDuration,
     .member = &Config::storage_sync_interval_ms,
     .fallback = "100ms",
     .least = 1,
     .most = 10 * kSecond,
     .help = "With `interval`: the longest time until acknowledged writes are on disk."},
    {.name = "storage.shards",
     .type = T::kCount,
     .member = &Config::storage_shards,
     .fallback = "1",
     .least = 1,
     .most = 256,
     .help = "Number of shards. You choose it when the server makes the data directory; another "
             "number is an error later."},
    {.name = "storage.cache",
     .type = T::kSize,
     .member = &Config::storage_cache_bytes,
     .fallback = "256MiB",
     .least = kMiB,
     .most = kTiB,
     .help = "Memory for blocks read from disk."},
    {.name = "storage.write_buffer",
     .type = T::kSize,
     .member = &Config::storage_write_buffer_bytes,
     .fallback = "64MiB",
     .least = kMiB,
     .most = 4096 * kMiB,
     .help = "Memory that collects writes before the server writes them to a file."},
    {.name = "storage.max_wal",
     .type = T::kSize,
     .member = &Config::storage_max_wal_bytes,
     .fallback = "256MiB",
     .least = kMiB,
     .most = kTiB,
     .help = "Largest size of the write-ahead log. Past it the server writes its memory to files. "
             "This bounds the time of a start after a crash."},
    {.name = "storage.max_commit_writes",
     .type = T::kCount,
     .member = &Config::storage_max_commit_writes,
     .fallback = "100000",
     .least = db::kMaxCommitWrites,
     .most = 1'000'000,
     .help = "Documents and rows that one transaction may write. Other writers of the shard wait "
             "during its commit."},
    {.name = "storage.max_commit_bytes",
     .type = T::kSize,
     .member = &Config::storage_max_commit_bytes,
     .fallback = "128MiB",
     .least = db::kMaxCommitBytes,
     .most = 512 * kMiB,
     .help = "Size of all documents and rows that one transaction may write."},
    {.name = "storage.log_retention",
     .type = T::kDuration,
     .member = &Config::storage_log_retention_ms,
     .fallback = "1m",
     .least = 0,
     .most = 3650 * kDay,
     .help = "How long the server keeps changes for the change feeds of disconnected clients."},
    {.name = "storage.tombstone_retention",
     .type = T::kDuration,
     .member = &Config::storage_tombstone_retention_ms,
     .fallback = "1d",
     .least = 0,
     .most = 3650 * kDay,
     .help = "How long the server keeps deletions for change feeds that resume."},

    {.name = "http.threads",
     .type = T::kCount,
     .member = &Config::http_threads,
     .fallback = "0",
     .least = 0,
     .most = 1024,
     .help = "Threads that serve connections. 0 takes one per core."},
    {.name = "http.workers",
     .type = T::kCount,
     .member = &Config::http_workers,
     .fallback = "4",
     .least = 1,
     .most = 1024,
     .help = "Threads for requests that wait for the disk (scans, backups, password checks)."},
    {.name = "http.max_connections",
     .type = T::kCount,
     .member = &Config::http_max_connections,
     .fallback = "10000",
     .least = 1,
     .most = 1'000'000,
     .help = "Most open connections; further clients get 503."},
    {.name = "http.max_head",
     .type = T::kSize,
     .member = &Config::http_max_head_bytes,
     .fallback = "32KiB",
     .least = kKiB,
     .most = 64 * kKiB,
     .help = "Largest request line and headers together; a request with more gets 431."},
    {.name = "http.max_body",
     .type = T::kSize,
     .member = &Config::http_max_body_bytes,
     .fallback = "24MiB",
     .least = kKiB,
     .most = 1024 * kMiB,
     .help = "Largest body of a request; a request with more gets 413."},
    {.name = "http.max_bodies",
     .type = T::kSize,
     .member = &Config::http_max_bodies_bytes,
     .fallback = "384MiB",
     .least = kKiB,
     .most = 1024 * 1024 * kMiB,
     .help = "Memory for the bodies of all requests together, on all ports; a request past it gets "
             "503. Bodies of up to 16 KiB do not count. At least http.max_body."},
    {.name = "http.head_timeout",
     .type = T::kDuration,
     .member = &Config::http_head_timeout_ms,
     .fallback = "10s",
     .least = 100,
     .most = kHour,
     .help = "Longest time for the head of a request to arrive."},
    {.name = "http.body_grace",
     .type = T::kDuration,
     .member = &Config::http_body_grace_ms,
     .fallback = "10s",
     .least = 100,
     .most = kDay,
     .help = "After this time a request's body must have had `http.body_min_rate` on average."},
    {.name = "http.body_min_rate",
     .type = T::kSize,
     .member = &Config::http_body_min_rate_bytes,
     .fallback = "4KiB",
     .least = 0,
     .most = 1024 * kMiB,
     .help = "Fewest bytes per second of a request's body."},
    {.name = "http.idle_timeout",
     .type = T::kDuration,
     .member = &Config::http_idle_timeout_ms,
     .fallback = "75s",
     .least = 100,
     .most = kDay,
     .help = "The server closes a connection after this time without a request."},
    {.name = "http.write_stall",
     .type = T::kDuration,
     .member = &Config::http_write_stall_ms,
     .fallback = "30s",
     .least = 100,
     .most = kDay,
     .help =
         "The server closes a connection whose client reads nothing of its answer for this long."},
    {.name = "http.drain_timeout",
     .type = T::kDuration,
     .member = &Config::http_drain_timeout_ms,
     .fallback = "10s",
     .least = 0,
     .most = kHour,
     .help = "When the server stops, running requests have this time to finish. The server ends 5 "
             "s later in any case."},

    {.name = "query.threads",
     .type = T::kCount,
     .member = &Config::query_threads,
     .fallback = "8",
     .least = 1,
     .most = 1024,
     .help = "Threads that run statements. A statement that takes longer than 0.1 s makes room for "
             "another one; at most this number of such long statements run at a time."},
    {.name = "query.max_requests",
     .type = T::kCount,
     .member = &Config::query_max_requests,
     .fallback = "256",
     .least = 1,
     .most = 100'000,
     .help = "Most statements that run or wait for a thread or for their client; further "
             "statements get 503."},
    {.name = "query.timeout",
     .type = T::kDuration,
     .member = &Config::query_timeout_ms,
     .fallback = "10m",
     .least = 0,
     .most = 3650 * kDay,
     .help = "Longest time of a statement; for a consumer, longest time between two waits. A "
             "request may ask for less. 0 means no limit."},
    {.name = "query.completed_threshold",
     .type = T::kDuration,
     .member = &Config::query_completed_threshold_ms,
     .fallback = "1s",
     .least = 0,
     .most = 3650 * kDay,
     .help = "/admin/completed_requests lists statements that took at least this long, and those "
             "that failed."},
    {.name = "query.memory_limit",
     .type = T::kSize,
     .member = &Config::query_memory_limit_bytes,
     .fallback = "512MiB",
     .least = kMiB,
     .most = kTiB,
     .help = "Memory of one statement for sorting, grouping and joining, and of one transaction "
             "for its writes."},

    {.name = "procedures.max_runs",
     .type = T::kCount,
     .member = &Config::procedures_max_runs,
     .fallback = "1000",
     .least = 1,
     .most = 100'000,
     .help = "Most procedures that run at the same time, each on a thread; further ones get 503."},
    {.name = "procedures.instructions",
     .type = T::kCount,
     .member = &Config::procedures_instructions,
     .fallback = "100000000",
     .least = 10'000,
     .most = 1'000'000'000'000,
     .help = "Instructions of one run of a procedure, of one event, or of one call of a function. "
             "`db:setmaxinstructions` changes it for a run."},
    {.name = "procedures.memory_limit",
     .type = T::kSize,
     .member = &Config::procedures_memory_limit_bytes,
     .fallback = "64MiB",
     .least = kMiB,
     .most = kTiB,
     .help = "Memory for the values of one run."},

    {.name = "functions.allow_private_addresses",
     .type = T::kChoice,
     .member = &Config::functions_allow_private_addresses,
     .fallback = "false",
     .choices = kYesNo,
     .help = "Whether `curl()` may call loopback, private and link-local addresses. It may never "
             "call the server's own listeners. With `--dev` the default is `true`."},
    {.name = "functions.hold",
     .type = T::kChoice,
     .member = &Config::functions_hold,
     .fallback = "false",
     .choices = kYesNo,
     .help =
         "Whether the server starts with all deployed functions paused until you resume each of "
         "them; `--hold-functions` does the same. After a later start without it, they run again."},
    {.name = "functions.max_documents",
     .type = T::kCount,
     .member = &Config::functions_max_documents,
     .fallback = "10000",
     .least = 1,
     .most = 10'000'000,
     .help = "Documents that one invocation of a JavaScript function may write in its commit, also "
             "with SQL++. Each flow that it starts counts as one."},
    {.name = "functions.max_document_bytes",
     .type = T::kSize,
     .member = &Config::functions_max_document_bytes,
     .fallback = "48MiB",
     .least = 1024,
     .most = kTiB,
     .help = "Memory for the writes of one invocation."},
    {.name = "functions.max_timers",
     .type = T::kCount,
     .member = &Config::functions_max_timers,
     .fallback = "10000",
     .least = 1,
     .most = 10'000'000,
     .help = "Timers that one invocation may create."},
    {.name = "functions.max_timer_bytes",
     .type = T::kSize,
     .member = &Config::functions_max_timer_bytes,
     .fallback = "48MiB",
     .least = 1024,
     .most = kTiB,
     .help = "Bytes of the contexts and references of one invocation's timers."},

    {.name = "flows.run_retention",
     .type = T::kDuration,
     .member = &Config::flows_run_retention_ms,
     .fallback = "7d",
     .least = 0,
     .most = 3650 * kDay,
     .help = "How long the server keeps a durable run after its end."},
    {.name = "flows.max_finished_runs",
     .type = T::kCount,
     .member = &Config::flows_max_finished_runs,
     .fallback = "10000",
     .least = 0,
     .most = 10'000'000,
     .help = "How many durable runs the server keeps after their end. Past it the server removes "
             "the oldest."},
    {.name = "flows.max_stream",
     .type = T::kSize,
     .member = &Config::flows_max_stream_bytes,
     .fallback = "1GiB",
     .least = 0,
     .most = kTiB,
     .help = "Largest body of a request that goes to disk (in `streams` of the data directory) "
             "instead of memory; 0 turns this off. Also the largest answer that a relay passes on, "
             "but at least 32 MiB."},
    {.name = "flows.traces",
     .type = T::kCount,
     .member = &Config::flows_traces,
     .fallback = "1000",
     .least = 0,
     .most = 1'000'000,
     .help = "How many traces of runs the server keeps in memory, and as many of failed runs; 0 "
             "keeps none."},
    {.name = "flows.otlp_url",
     .type = T::kUrl,
     .member = &Config::flows_otlp_url,
     .fallback = "",
     .help = "URL of a collector for the traces of runs, which takes OTLP over HTTP as JSON, such "
             "as `http://localhost:4318/v1/traces`. If it is empty, the server sends none."},
    {.name = "flows.directories",
     .type = T::kPath,
     .member = &Config::flows_directories,
     .fallback = "",
     .help = "Directories where `file()` of flows may read and write, separated by `:`. If it is "
             "empty, the server refuses `file()`."},

    {.name = "log.level",
     .type = T::kChoice,
     .member = &Config::log_level,
     .fallback = "info",
     .choices = kLevels,
     .help = "Least severe message that the server logs."},
    {.name = "log.format",
     .type = T::kChoice,
     .member = &Config::log_format,
     .fallback = "json",
     .choices = kFormats,
     .help = "`json` for programs, `text` for people. With `--dev` the default is `text`."},

    {.name = "backup.root",
     .type = T::kPath,
     .member = &Config::backup_root,
     .fallback = "",
     .help = "Backups may only go below this directory. If it is empty, an admin may name any "
             "directory that the server can write."},
};

std::string FormatNumber(SettingType type, uint64_t number) {
  if (type == SettingType::kDuration) return FormatDurationMs(number);
  if (type == SettingType::kSize) return FormatSizeBytes(number);
  return fmt::format("{}", number);
}

bool IsNumber(SettingType type) {
  return type == SettingType::kDuration || type == SettingType::kSize ||
         type == SettingType::kCount;
}

std::optional<uint64_t> ParseNumber(SettingType type, std::string_view text) {
  if (type == SettingType::kDuration || type == SettingType::kSize) {
    const auto parsed = type == SettingType::kSize ? ParseSizeBytes(text) : ParseDurationMs(text);
    return parsed ? std::optional(*parsed) : std::nullopt;
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::unexpected<Status> Invalid(const Setting& setting, std::string_view text) {
  return Fail(Code::kInvalidArgument, "config.invalid_value", "{}: expected {}, found '{}'",
              setting.name, Expected(setting), text);
}

}  // namespace

std::string Setting::Flag() const {
  if (!flag.empty()) return std::string(flag);
  std::string text = fmt::format("--{}", name);
  std::ranges::replace(text, '.', '-');
  std::ranges::replace(text, '_', '-');
  return text;
}

std::string Setting::Environment() const {
  std::string text = fmt::format("SLUICE_{}", name);
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return c == '.' ? '_' : static_cast<char>(std::toupper(c));
  });
  return text;
}

std::span<const Setting> Settings() { return kSettings; }
std::span<const SectionHelp> Sections() { return kSections; }

const Setting* FindSetting(std::string_view name) {
  const auto found = std::ranges::find(kSettings, name, &Setting::name);
  return found == std::end(kSettings) ? nullptr : &*found;
}

std::string Expected(const Setting& setting) {
  const auto range = [&] {
    return fmt::format("from {} to {}", FormatNumber(setting.type, setting.least),
                       FormatNumber(setting.type, setting.most));
  };
  switch (setting.type) {
    case SettingType::kPath:
      return "a path";
    case SettingType::kAddress:
      return "an address such as 127.0.0.1:8091 or [::1]:8091";
    case SettingType::kUrl:
      return "nothing, or a URL such as http://localhost:4318/v1/traces";
    case SettingType::kDuration:
      return "a duration " + range();
    case SettingType::kSize:
      return "a size " + range();
    case SettingType::kCount:
      return "a whole number " + range();
    case SettingType::kChoice:
      return fmt::format("one of {}", fmt::join(setting.choices, ", "));
  }
  return "";
}

Result<std::string> SetValue(const Setting& setting, std::string_view text, Config* config) {
  if (IsNumber(setting.type)) {
    const std::optional<uint64_t> number = ParseNumber(setting.type, text);
    if (!number || *number < setting.least || *number > setting.most) {
      return Invalid(setting, text);
    }
    config->*std::get<uint64_t Config::*>(setting.member) = *number;
    return FormatNumber(setting.type, *number);
  }
  if (setting.type == SettingType::kChoice && std::ranges::count(setting.choices, text) == 0) {
    return Invalid(setting, text);
  }
  if (setting.type == SettingType::kAddress && !ParseAddress(text)) return Invalid(setting, text);
  if (setting.type == SettingType::kUrl && !text.empty() && !text.starts_with("http://") &&
      !text.starts_with("https://")) {
    return Invalid(setting, text);
  }
  if (text.find('\0') != std::string_view::npos) return Invalid(setting, "text with a NUL byte");
  config->*std::get<std::string Config::*>(setting.member) = text;
  return std::string(text);
}

}  // namespace sluice::server
