// What the REST resources work with. Built by server/, which keeps everything named here alive
// until the HTTP server has stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "auth/directory.h"
#include "base/clock.h"
#include "db/database.h"
#include "rest/metrics.h"

namespace sluice::rest {

// How far the process is; server/ moves it forward, /readyz shows it. Any thread.
class Lifecycle {
 public:
  enum class Phase : uint8_t { kStarting, kReady, kDraining };

  Phase phase() const { return phase_.load(std::memory_order_relaxed); }
  void set_phase(Phase phase) { phase_.store(phase, std::memory_order_relaxed); }

 private:
  std::atomic<Phase> phase_ = Phase::kStarting;
};

struct Context {
  db::Database& database;
  auth::Directory& directory;
  Metrics& metrics;
  const Lifecycle& lifecycle;
  const Clock& clock;
  std::string version;
  uint64_t started_ms = 0;       // Unix time
  std::string backup_root = {};  // backups go below it only; empty: anywhere
  // What others add to /metrics.
  std::vector<std::function<void(std::string* out)>> more_metrics = {};
};

}  // namespace sluice::rest
