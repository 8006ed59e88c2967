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
    {"data", "Where the data is."},
    {"listen", "Addresses to listen on, as `HOST:PORT`. Port 0 picks a free one."},
    {"tls", "A certificate for all listeners. Without one they speak plain HTTP."},
    {"storage", "How documents are kept."},
    {"http", "Limits of the listeners."},
    {"query", "Limits of SQL++ statements."},
    {"procedures", "Limits of Lua: procedures, triggers, consumers and functions of SQL."},
    {"functions", "What JavaScript functions may do."},
    {"flows", "What flows may do, and their durable runs."},
    {"log", "What the server writes to standard error."},
    {"backup", "Backups that clients ask for."},
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
     .help =
         "The data directory. Made if it does not exist. With `--dev` it is `.sluice` in the app "
         "directory."},

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
     .help = "PEM file with the certificate and those that lead to its root. Needs `tls.key`."},
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
     .help = "When a write is acknowledged: `sync` when it is on disk; `interval` when it is "
             "written, and "
             "on disk within `storage.sync_interval`; `none` when it is written."},
    {.name = "storage.sync_interval",
     .type = T::kDuration,
     .member = &Config::storage_sync_interval_ms,
     .fallback = "100ms",
     .least = 1,
     .most = 10 * kSecond,
     .help = "With `interval`: the longest time that acknowledged writes are not on disk."},
    {.name = "storage.shards",
     .type = T::kCount,
     .member = &Config::storage_shards,
     .fallback = "1",
     .least = 1,
     .most = 256,
     .help = "Number of shards. Fixed when the data directory is made: another number is an error "
             "later."},
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
     .help = "Memory that collects writes before they become a file."},
    {.name = "storage.max_wal",
     .type = T::kSize,
     .member = &Config::storage_max_wal_bytes,
     .fallback = "256MiB",
     .least = kMiB,
     .most = kTiB,
     .help = "Size of the write-ahead log past which memory is written out: bounds what a start "
             "after a "
             "crash replays."},
    {.name = "storage.max_commit_writes",
     .type = T::kCount,
     .member = &Config::storage_max_commit_writes,
     .fallback = "100000",
     .least = db::kMaxCommitWrites,
     .most = 1'000'000,
     .help = "Documents and rows that one transaction may write. Other writers of the shard wait "
             "while its commit is applied."},
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
     .help = "How long changes are kept for change feeds of clients that went away for a moment."},
    {.name = "storage.tombstone_retention",
     .type = T::kDuration,
     .member = &Config::storage_tombstone_retention_ms,
     .fallback = "1d",
     .least = 0,
     .most = 3650 * kDay,
     .help = "How long a deletion is remembered for change feeds that resume."},

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
     .help = "Open connections; further clients get 503."},
    {.name = "http.max_head",
     .type = T::kSize,
     .member = &Config::http_max_head_bytes,
     .fallback = "32KiB",
     .least = kKiB,
     .most = 64 * kKiB,
     .help = "Request line and headers together; more is answered with 431."},
    {.name = "http.max_body",
     .type = T::kSize,
     .member = &Config::http_max_body_bytes,
     .fallback = "24MiB",
     .least = kKiB,
     .most = 1024 * kMiB,
     .help = "Body of a request; more is answered with 413."},
    {.name = "http.max_bodies",
     .type = T::kSize,
     .member = &Config::http_max_bodies_bytes,
     .fallback = "384MiB",
     .least = kKiB,
     .most = 1024 * 1024 * kMiB,
     .help =
         "Memory that the bodies of all requests together, on all ports, may take: a request past "
         "that gets 503. Those of up to 16 KiB do not count. Not less than http.max_body."},
    {.name = "http.head_timeout",
     .type = T::kDuration,
     .member = &Config::http_head_timeout_ms,
     .fallback = "10s",
     .least = 100,
     .most = kHour,
     .help = "Time in which a request's head must arrive."},
    {.name = "http.body_grace",
     .type = T::kDuration,
     .member = &Config::http_body_grace_ms,
     .fallback = "10s",
     .least = 100,
     .most = kDay,
     .help =
         "Time after which a request's body must have arrived at `http.body_min_rate` on average."},
    {.name = "http.body_min_rate",
     .type = T::kSize,
     .member = &Config::http_body_min_rate_bytes,
     .fallback = "4KiB",
     .least = 0,
     .most = 1024 * kMiB,
     .help = "Least bytes per second of a request's body."},
    {.name = "http.idle_timeout",
     .type = T::kDuration,
     .member = &Config::http_idle_timeout_ms,
     .fallback = "75s",
     .least = 100,
     .most = kDay,
     .help = "Time after which a connection without a request is closed."},
    {.name = "http.write_stall",
     .type = T::kDuration,
     .member = &Config::http_write_stall_ms,
     .fallback = "30s",
     .least = 100,
     .most = kDay,
     .help = "A client that takes nothing of its answer for this long is closed."},
    {.name = "http.drain_timeout",
     .type = T::kDuration,
     .member = &Config::http_drain_timeout_ms,
     .fallback = "10s",
     .least = 0,
     .most = kHour,
     .help = "At a stop: time that running requests have to finish. The server ends 5 s later in "
             "any case."},

    {.name = "query.threads",
     .type = T::kCount,
     .member = &Config::query_threads,
     .fallback = "8",
     .least = 1,
     .most = 1024,
     .help = "Threads that run statements. One that takes longer than 0.1 s leaves its place to "
             "another, and at most as many of those run at a time."},
    {.name = "query.max_requests",
     .type = T::kCount,
     .member = &Config::query_max_requests,
     .fallback = "256",
     .least = 1,
     .most = 100'000,
     .help = "Statements that run or wait for a thread or for their client; further ones get 503."},
    {.name = "query.timeout",
     .type = T::kDuration,
     .member = &Config::query_timeout_ms,
     .fallback = "10m",
     .least = 0,
     .most = 3650 * kDay,
     .help = "The longest time that a statement may take; of a consumer's run, a step between two "
             "waits. A request may ask for less. 0 for no limit."},
    {.name = "query.completed_threshold",
     .type = T::kDuration,
     .member = &Config::query_completed_threshold_ms,
     .fallback = "1s",
     .least = 0,
     .most = 3650 * kDay,
     .help = "Statements that took as long are listed in /admin/completed_requests; so are those "
             "that failed."},
    {.name = "query.memory_limit",
     .type = T::kSize,
     .member = &Config::query_memory_limit_bytes,
     .fallback = "512MiB",
     .least = kMiB,
     .most = kTiB,
     .help = "Memory that one statement may hold for sorting, grouping and joining, and a "
             "transaction for its writes."},

    {.name = "procedures.max_runs",
     .type = T::kCount,
     .member = &Config::procedures_max_runs,
     .fallback = "1000",
     .least = 1,
     .most = 100'000,
     .help = "Procedures that run at the same time, each on a thread; further ones get 503."},
    {.name = "procedures.instructions",
     .type = T::kCount,
     .member = &Config::procedures_instructions,
     .fallback = "100000000",
     .least = 10'000,
     .most = 1'000'000'000'000,
     .help = "Instructions of one run of a procedure, of one event, or of one call of a function, "
             "unless it says `db:setmaxinstructions`."},
    {.name = "procedures.memory_limit",
     .type = T::kSize,
     .member = &Config::procedures_memory_limit_bytes,
     .fallback = "64MiB",
     .least = kMiB,
     .most = kTiB,
     .help = "Memory that the values of one run may take."},

    {.name = "functions.allow_private_addresses",
     .type = T::kChoice,
     .member = &Config::functions_allow_private_addresses,
     .fallback = "false",
     .choices = kYesNo,
     .help = "Whether `curl()` may call loopback, private and link-local addresses. The server's "
             "own listeners are refused in any case. With `--dev` it is `true`."},
    {.name = "functions.hold",
     .type = T::kChoice,
     .member = &Config::functions_hold,
     .fallback = "false",
     .choices = kYesNo,
     .help = "Whether deployed functions are paused at the start until you resume each of them; "
             "`--hold-functions` is the same. A later start without it lets them run again."},
    {.name = "functions.max_documents",
     .type = T::kCount,
     .member = &Config::functions_max_documents,
     .fallback = "10000",
     .least = 1,
     .most = 10'000'000,
     .help =
         "Documents that one invocation of a JavaScript function may write, also by SQL++, with "
         "the flows that it starts. They are one commit."},
    {.name = "functions.max_document_bytes",
     .type = T::kSize,
     .member = &Config::functions_max_document_bytes,
     .fallback = "48MiB",
     .least = 1024,
     .most = kTiB,
     .help = "Memory that the writes of one invocation may take."},
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
     .help = "Bytes that the contexts and references of one invocation's timers may have."},

    {.name = "flows.run_retention",
     .type = T::kDuration,
     .member = &Config::flows_run_retention_ms,
     .fallback = "7d",
     .least = 0,
     .most = 3650 * kDay,
     .help = "How long a durable run is kept after its end."},
    {.name = "flows.max_finished_runs",
     .type = T::kCount,
     .member = &Config::flows_max_finished_runs,
     .fallback = "10000",
     .least = 0,
     .most = 10'000'000,
     .help = "How many durable runs are kept after their end; past it the oldest are removed."},
    {.name = "flows.max_stream",
     .type = T::kSize,
     .member = &Config::flows_max_stream_bytes,
     .fallback = "1GiB",
     .least = 0,
     .most = kTiB,
     .help = "Largest body of a request that goes to disk, in `streams` of the data directory, "
             "instead of memory; with 0 none does. Also the largest answer that a relay passes on, "
             "which may be 32 MiB in any case."},
    {.name = "flows.traces",
     .type = T::kCount,
     .member = &Config::flows_traces,
     .fallback = "1000",
     .least = 0,
     .most = 1'000'000,
     .help = "How many traces of runs are kept in memory, and as many of runs that failed; with 0 "
             "none."},
    {.name = "flows.otlp_url",
     .type = T::kUrl,
     .member = &Config::flows_otlp_url,
     .fallback = "",
     .help = "Where traces of runs are sent: a collector that takes OTLP over HTTP as JSON, such "
             "as `http://localhost:4318/v1/traces`. While it is empty, none are."},
    {.name = "flows.directories",
     .type = T::kPath,
     .member = &Config::flows_directories,
     .fallback = "",
     .help = "Directories where `file()` of flows reads and writes, separated by `:`. "
             "While it is empty, `file()` is refused."},

    {.name = "log.level",
     .type = T::kChoice,
     .member = &Config::log_level,
     .fallback = "info",
     .choices = kLevels,
     .help = "Least severe message written."},
    {.name = "log.format",
     .type = T::kChoice,
     .member = &Config::log_format,
     .fallback = "json",
     .choices = kFormats,
     .help = "`json` for programs, `text` for people. With `--dev` it is `text`."},

    {.name = "backup.root",
     .type = T::kPath,
     .member = &Config::backup_root,
     .fallback = "",
     .help = "Backups go below this directory only. While it is empty, an admin may name any "
             "directory that "
             "the server can write."},
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
