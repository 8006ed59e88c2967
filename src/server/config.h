// The server's configuration: one YAML file, overridden by SLUICE_SECTION_KEY environment
// variables, overridden by flags. The table in server/settings.cc lists the settings; this struct
// holds their values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace sluice::server {

struct Config {
  std::string data_directory;

  std::string listen_http;  // HOST:PORT, see ParseAddress
  std::string listen_eventing;
  std::string listen_flows;

  std::string tls_certificate;  // PEM files; both or neither
  std::string tls_key;

  std::string storage_durability;  // sync, interval, none
  uint64_t storage_sync_interval_ms = 0;
  uint64_t storage_shards = 0;
  uint64_t storage_cache_bytes = 0;
  uint64_t storage_write_buffer_bytes = 0;
  uint64_t storage_max_wal_bytes = 0;
  uint64_t storage_max_commit_writes = 0;
  uint64_t storage_max_commit_bytes = 0;
  uint64_t storage_log_retention_ms = 0;
  uint64_t storage_tombstone_retention_ms = 0;

  uint64_t http_threads = 0;  // 0: one per core
  uint64_t http_workers = 0;
  uint64_t http_max_connections = 0;
  uint64_t http_max_head_bytes = 0;
  uint64_t http_max_body_bytes = 0;
  uint64_t http_max_bodies_bytes = 0;
  uint64_t http_head_timeout_ms = 0;
  uint64_t http_body_grace_ms = 0;
  uint64_t http_body_min_rate_bytes = 0;  // per second
  uint64_t http_idle_timeout_ms = 0;
  uint64_t http_write_stall_ms = 0;
  uint64_t http_drain_timeout_ms = 0;

  uint64_t query_threads = 0;
  uint64_t query_max_requests = 0;
  uint64_t query_timeout_ms = 0;  // 0: none
  uint64_t query_completed_threshold_ms = 0;
  uint64_t query_memory_limit_bytes = 0;

  uint64_t procedures_max_runs = 0;
  uint64_t procedures_instructions = 0;
  uint64_t procedures_memory_limit_bytes = 0;

  std::string functions_allow_private_addresses;  // true, false
  std::string functions_hold;                     // true, false
  uint64_t functions_max_documents = 0;
  uint64_t functions_max_document_bytes = 0;
  uint64_t functions_max_timers = 0;
  uint64_t functions_max_timer_bytes = 0;

  uint64_t flows_run_retention_ms = 0;
  uint64_t flows_max_finished_runs = 0;
  uint64_t flows_max_stream_bytes = 0;
  uint64_t flows_traces = 0;
  std::string flows_otlp_url;     // empty: none
  std::string flows_directories;  // paths, separated by ':'

  std::string log_level;   // debug, info, warn, error
  std::string log_format;  // text, json

  std::string backup_root;  // empty: anywhere
};

struct Address {
  std::string host;  // without the brackets of an IPv6 address
  uint16_t port = 0;
};

// "127.0.0.1:8091", "[::1]:0", "localhost:8091". Error config.invalid_value.
Result<Address> ParseAddress(std::string_view text);

// Whether only this machine can reach a listener there.
bool IsLoopback(const Address& address);

// The source of a value, lowest rank first.
enum class Origin : uint8_t { kDefault, kMode, kFile, kEnvironment, kFlag };

struct ConfigValue {
  std::string text;  // canonical: "1m" for 60s
  Origin origin = Origin::kDefault;
  std::string source;  // "sluice.yaml:3:5", "SLUICE_LOG_LEVEL", "--log-level"; empty for a default
};

struct LoadedConfig {
  Config config;
  std::map<std::string, ConfigValue, std::less<>> values;  // by setting name
};

// The sources of a configuration. Texts of flags by setting name ("log.level").
struct ConfigSources {
  std::map<std::string, std::string> defaults = {};  // replace built-in ones (--dev)
  std::string file = {};                             // path = {}; empty for none
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::map<std::string, std::string> flags = {};
};

// Either a configuration or every problem that was found, in order.
struct ConfigResult {
  LoadedConfig loaded;
  std::vector<Status> problems;
};
ConfigResult LoadConfig(const ConfigSources& sources);
// The same with the file's text at hand, for tests and fuzzing.
ConfigResult LoadConfigText(const ConfigSources& sources, std::string_view yaml);

// SLUICE_... variables that are no settings, because the command line client reads them.
bool IsClientVariable(std::string_view name);

// This process's environment as pairs.
std::vector<std::pair<std::string, std::string>> ReadEnvironment();

}  // namespace sluice::server
