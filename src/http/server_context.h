// Data that the connections of a server share. Internal to http.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/body_memory.h"
#include "http/request_parser.h"
#include "http/rights_watch.h"
#include "http/server.h"

namespace sluice::http {

// The part that the connections of one loop share, on its thread: the text of the header Date, and
// ids for requests.
class LoopContext {
 public:
  LoopContext(const Clock& clock, uint64_t id_seed) : ids(id_seed), clock_(clock) {}

  // `now_ns` is the monotonic time.
  std::string_view Date(uint64_t now_ns) {
    if (date_.empty() || now_ns - date_ns_ > kDateAgeNs) Refresh(now_ns);
    return date_;
  }

  RequestIds ids;

 private:
  static constexpr uint64_t kDateAgeNs = 250'000'000;

  void Refresh(uint64_t now_ns) {
    date_ns_ = now_ns;
    const time_t seconds = static_cast<time_t>(clock_.WallMs() / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    char text[32];
    date_.assign(text, strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &utc));
  }

  const Clock& clock_;
  std::string date_;
  uint64_t date_ns_ = 0;
};

// Immutable after Start except for the counters and the parts of the loops.
struct ServerContext {
  ServerContext(const ServerOptions& options, Server::Environment environment)
      : options(options),
        environment(std::move(environment)),
        rights(dynamic_cast<const RightsWatch*>(this->environment.filter)),
        bodies(options.max_bodies_bytes) {}

  uint64_t now_ns() const { return environment.clock.MonotonicNs(); }

  const ServerOptions options;
  const Server::Environment environment;
  const RightsWatch* const rights;  // may be null
  BodyMemory bodies;
  std::atomic<size_t> connections = 0;
  std::vector<std::unique_ptr<LoopContext>> loops;  // by IoLoop::index
};

}  // namespace sluice::http
