// Functions that are HTTP requests: async.http.request, endpoints that sluice.yaml names, and
// relays of rest.yaml. The rules for addresses and the size of answers are those of functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flow_engine/stream.h"
#include "flow_engine/task.h"
#include "function/handler.h"

namespace sluice::flow_engine {

inline constexpr uint64_t kMaxHttpAnswerBytes = 32ull << 20;
// A relay keeps a body up to this size in memory. A larger body of a request is a stream, a larger
// answer is passed on while it arrives.
inline constexpr size_t kRelayMemoryBytes = 1 << 20;

enum class Certificates : uint8_t { kChecked, kTrusted };

// An entry with `url` in sluice.yaml.
struct HttpTarget {
  std::string url;  // {name} is a field of the input
  std::string method = "POST";
  std::vector<std::pair<std::string, std::string>> headers = {};
  uint64_t timeout_ms = 0;  // 0: as long as the flow has time
  Certificates certificates = Certificates::kChecked;
};

// Sends the input: as the body, or for GET, HEAD and DELETE as the query.
TaskMaker MakeHttpTask(const function::Services& services, HttpTarget target);
// async.http.request: the input says what to send.
TaskMaker MakeHttpRequestTask(const function::Services& services);
// Sends a request of REST automation on to a host; its path is `uri` already rewritten, its body
// bytes, or a stream. A large answer goes to the call's AnswerPipe, if it has one; then it may have
// `max_bytes`.
TaskMaker MakeRelayTask(const function::Services& services, uint64_t max_bytes, std::string host,
                        Certificates certificates);

// Whether a text is http://host or https://host, with at most a path (Url), or without one (Host).
bool IsHttpUrl(std::string_view text);
bool IsHttpHost(std::string_view text);

}  // namespace sluice::flow_engine
