// rest.yaml: which request is answered by which route or flow.
//
// Paths are matched segment by segment, without regard to case. A segment of the url is a text, a
// parameter `{name}`, or ends with `*`; a `*` at the end of the url takes the rest of the path. Of
// several urls that match, the one that is more specific from the left wins.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flow/compile.h"
#include "flow/problem.h"
#include "flow/settings.h"
#include "flow_engine/http_task.h"
#include "flow_engine/route.h"
#include "flow_engine/static_content.h"

namespace sluice::flow_engine {

// How to change the headers of a request or of an answer: keep only those in `keep`, or if that is
// empty, drop those in `drop`; then add those in `add`. Names are in lower case.
struct HeaderRules {
  std::vector<std::string> keep;
  std::vector<std::string> drop;
  std::vector<std::pair<std::string, std::string>> add;
};

struct HeaderPolicy {
  HeaderRules request;
  HeaderRules response;
};

struct CorsPolicy {
  std::vector<std::pair<std::string, std::string>> options;  // of the answer to OPTIONS
  std::vector<std::pair<std::string, std::string>> headers;  // of all other answers
};

struct Segment {
  enum class Kind : uint8_t { kText, kParameter, kPrefix, kRest };
  Kind kind = Kind::kText;
  std::string text;  // in lower case; a parameter's name, a prefix without its `*`
  bool operator==(const Segment&) const = default;
};

// Which route guards an endpoint: the first rule whose header the request has, with that value if
// one is given. A rule without a header is for all.
struct AuthRule {
  std::string header;  // in lower case
  std::string value;
  std::string service;
};

struct Endpoint {
  std::string url;
  std::vector<Segment> segments;
  std::vector<std::string> query;     // names behind `?` of the url, for people
  std::vector<std::string> methods;   // in upper case
  std::vector<std::string> services;  // routes: the first one answers, the others get a copy
  std::string flow;                   // the id, when the service is http.flow.adapter
  uint64_t timeout_ms = 30'000;
  std::vector<AuthRule> authentication;  // the last one is for all; none: everybody gets in
  Tracing tracing = Tracing::kKept;
  // Headers of requests that have the trace's id, W3C's trace, and the correlation id.
  std::string trace_header = "X-Trace-Id";
  std::string parent_header = "traceparent";
  std::string correlation_header = "X-Correlation-Id";
  // A client that goes away ends its flow, unless that is durable.
  bool cancels_on_disconnect = false;
  bool upload = false;           // multipart/form-data is taken apart
  bool streams_uploads = false;  // and its files, as bodies of bytes, are streams however small
  // Of a relay (RelayRoute).
  std::string relay;         // http://host
  std::string rewrite_from;  // the beginning of paths here
  std::string rewrite_to;    // the beginning of the same paths there
  Certificates certificates = Certificates::kChecked;
  const CorsPolicy* cors = nullptr;
  const HeaderPolicy* headers = nullptr;
  Place place;
};

inline constexpr std::string_view kFlowAdapter = "http.flow.adapter";
inline constexpr size_t kMaxEndpoints = 10'000;
inline constexpr uint64_t kMinTimeoutMs = 1000;
inline constexpr uint64_t kMaxTimeoutMs = 300'000;

struct RestConfig {
  std::vector<Endpoint> endpoints;  // the most specific ones first
  std::map<std::string, CorsPolicy, std::less<>> cors;
  std::map<std::string, HeaderPolicy, std::less<>> headers;
  StaticContent content;

  struct Match {
    const Endpoint* endpoint = nullptr;
    bool path_known = false;  // for another method
    const Endpoint* options = nullptr;
    std::vector<std::pair<std::string, std::string>> parameters;
  };
  // `path` is decoded and has its original case.
  Match Find(std::string_view method, std::string_view path) const;
};

// The name of the route that relays to an endpoint's host. No function has such a name.
std::string RelayRoute(const Endpoint& endpoint);

// The routes and flows that endpoints may name.
struct RestNames {
  std::function<const Route*(std::string_view route)> find_route;
  std::function<bool(std::string_view flow)> has_flow;  // also one with errors, told already
  // For suggestions.
  std::vector<std::string> routes;
  std::vector<std::string> flows;
};

// Files are merged; of policies with the same id the last one counts. Errors rest.invalid, with
// their places.
RestConfig ReadRestConfig(const std::vector<flow::FlowText>& texts, const flow::Settings& settings,
                          const RestNames& names, flow::Problems* problems);

}  // namespace sluice::flow_engine
