#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "base/nearest.h"
#include "base/quantity.h"
#include "flow/source_tree.h"
#include "flow/text_form.h"
#include "flow_engine/guards.h"
#include "flow_engine/path_parts.h"
#include "flow_engine/rest_config.h"

namespace sluice::flow_engine {
namespace {

using flow::LowerCase;
using yaml::Node;

constexpr std::string_view kEndpointMethods[] = {"GET", "PUT", "POST", "DELETE", "HEAD", "PATCH"};

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return upper;
}

class Reader {
 public:
  Reader(std::string file, const RestNames& names, flow::Problems* problems)
      : file_(std::move(file)), names_(names), problems_(problems) {}

  // All but the endpoints, which may name policies of other files.
  void ReadPolicies(const Node& root, RestConfig* to) {
    RestConfig& config = *to;
    if (!root.is_map() && !root.is_null()) Wrong(root, "expected a map with rest, a list");
    for (const yaml::Entry& entry : root.entries) {
      if (entry.key == "cors") {
        ReadEach(entry.value, "cors", [&](const std::string& id, const Node& node) {
          config.cors[id] = ReadCors(node);
        });
      } else if (entry.key == "headers") {
        ReadEach(entry.value, "headers", [&](const std::string& id, const Node& node) {
          config.headers[id] = ReadHeaders(node);
        });
      } else if (entry.key == "static-content") {
        ReadStatic(entry.value, &config.content);
      } else if (entry.key != "rest") {
        Wrong(entry.line, entry.column,
              fmt::format("expected rest, cors, headers or static-content, got '{}'",
                          flow::WrittenKey(entry)));
      }
    }
  }

  void ReadEndpoints(const Node& root, RestConfig* config) {
    const Node* const rest = root.Find("rest");
    if (rest == nullptr) return;
    for (const Node& node : rest->items) ReadEndpoint(node, config);
    if (!rest->is_list() && !rest->is_null()) Wrong(*rest, "rest: expected a list of endpoints");
  }

  static int RankOf(const Segment& segment) {
    switch (segment.kind) {
      case Segment::Kind::kText:
        return 0;
      case Segment::Kind::kPrefix:
        return segment.text.empty() ? 3 : 1;
      case Segment::Kind::kParameter:
        return 2;
      case Segment::Kind::kRest:
        break;
    }
    return 4;
  }

  static bool MoreSpecific(const Endpoint& a, const Endpoint& b) {
    const size_t both = std::min(a.segments.size(), b.segments.size());
    for (size_t i = 0; i < both; ++i) {
      const int rank_a = RankOf(a.segments[i]);
      const int rank_b = RankOf(b.segments[i]);
      if (rank_a != rank_b) return rank_a < rank_b;
      if (a.segments[i].kind == Segment::Kind::kPrefix &&
          a.segments[i].text.size() != b.segments[i].text.size()) {
        return a.segments[i].text.size() > b.segments[i].text.size();
      }
    }
    return a.segments.size() > b.segments.size();
  }

 private:
  void Wrong(uint32_t line, uint32_t column, const std::string& message) {
    problems_->AddError(
        Error(Code::kInvalidArgument, "rest.invalid", "{}", message).At({file_, line, column}));
  }
  void Wrong(const Node& node, const std::string& message) {
    Wrong(node.line, node.column, message);
  }

  void CheckKeys(const Node& map, std::span<const std::string> known) {
    if (!map.is_map()) return Wrong(map, fmt::format("expected a map with {}", known.front()));
    for (const yaml::Entry& entry : map.entries) {
      if (std::ranges::find(known, entry.key) != known.end()) continue;
      Wrong(entry.line, entry.column,
            fmt::format("there is no key '{}' here{}", flow::WrittenKey(entry),
                        DidYouMean(entry.key, known)));
    }
  }

  template <typename Visit>
  void ReadEach(const Node& list, std::string_view what, const Visit& visit) {
    if (!list.is_list() && !list.is_null()) {
      Wrong(list, fmt::format("{}: expected a list of entries with an id", what));
    }
    for (const Node& node : list.items) {
      const Node* const id = node.Find("id");
      if (id == nullptr || !id->is_scalar()) {
        Wrong(node, fmt::format("{}: expected an entry with an id", what));
      } else {
        visit(id->text, node);
      }
    }
  }

  // "Name: value", each.
  std::vector<std::pair<std::string, std::string>> ReadPairs(const Node* list,
                                                             std::string_view prefix) {
    std::vector<std::pair<std::string, std::string>> pairs;
    if (list == nullptr) return pairs;
    if (!list->is_list() && !list->is_null()) Wrong(*list, "expected a list of 'Name: value'");
    for (const Node& node : list->items) {
      const size_t colon = node.text.find(':');
      if (!node.is_scalar() || colon == std::string::npos || colon == 0) {
        Wrong(node, "expected 'Name: value'");
        continue;
      }
      std::string value = node.text.substr(colon + 1);
      value.erase(0, value.find_first_not_of(' '));
      std::string name = node.text.substr(0, colon);
      if (value.empty() || !LowerCase(name).starts_with(LowerCase(prefix))) {
        Wrong(node, fmt::format("expected a header {}... with a value", prefix));
        continue;
      }
      pairs.emplace_back(std::move(name), std::move(value));
    }
    return pairs;
  }

  std::vector<std::string> ReadNames(const Node* list) {
    std::vector<std::string> names;
    if (list == nullptr) return names;
    if (!list->is_list() && !list->is_null()) Wrong(*list, "expected a list of headers");
    for (const Node& node : list->items) {
      if (!node.is_scalar()) Wrong(node, "expected the name of a header");
      names.push_back(LowerCase(node.text));
    }
    return names;
  }

  CorsPolicy ReadCors(const Node& node) {
    static const std::array<std::string, 3> kKeys = {"id", "options", "headers"};
    CheckKeys(node, kKeys);
    return {ReadPairs(node.Find("options"), "Access-Control-"),
            ReadPairs(node.Find("headers"), "Access-Control-")};
  }

  HeaderRules ReadRules(const Node* node) {
    if (node == nullptr) return {};
    static const std::array<std::string, 3> kKeys = {"keep", "drop", "add"};
    CheckKeys(*node, kKeys);
    return {ReadNames(node->Find("keep")), ReadNames(node->Find("drop")),
            ReadPairs(node->Find("add"), "")};
  }
  HeaderPolicy ReadHeaders(const Node& node) {
    static const std::array<std::string, 3> kKeys = {"id", "request", "response"};
    CheckKeys(node, kKeys);
    return {ReadRules(node.Find("request")), ReadRules(node.Find("response"))};
  }

  // Whether two urls match the same paths, whatever their parameters are called.
  static bool SamePaths(const Endpoint& a, const Endpoint& b) {
    return std::ranges::equal(a.segments, b.segments, [](const Segment& x, const Segment& y) {
      return x.kind == y.kind && (x.kind == Segment::Kind::kParameter || x.text == y.text);
    });
  }

  void ReadEndpoint(const Node& node, RestConfig* config) {
    const size_t errors = problems_->errors();
    Endpoint endpoint;
    endpoint.place = {file_, node.line, node.column};
    if (!node.is_map()) return Wrong(node, "expected an endpoint: service, methods, url");
    for (const yaml::Entry& entry : node.entries) ReadField(entry, config, &endpoint);
    for (const char* required : {"service", "methods", "url"}) {
      if (node.Find(required) == nullptr) Wrong(node, fmt::format("'{}' is missing", required));
    }
    CheckServices(node, &endpoint);
    for (const Endpoint& other : config->endpoints) {
      if (!SamePaths(other, endpoint)) continue;
      for (const std::string& method : endpoint.methods) {
        if (std::ranges::find(other.methods, method) == other.methods.end()) continue;
        Wrong(node, fmt::format("{} {} appears twice, see {}:{}", method, endpoint.url,
                                other.place.file, other.place.line));
      }
    }
    if (config->endpoints.size() >= kMaxEndpoints)
      return Wrong(node, "there are too many endpoints");
    if (problems_->errors() == errors) config->endpoints.push_back(std::move(endpoint));
  }

  void ReadField(const yaml::Entry& entry, RestConfig* config, Endpoint* endpoint) {
    const Node& value = entry.value;
    if (entry.key == "service") {
      if (value.is_scalar()) endpoint->services.push_back(value.text);
      for (const Node& item : value.items) endpoint->services.push_back(item.text);
      if (endpoint->services.empty()) Wrong(value, "service: expected a route, or a list of them");
    } else if (entry.key == "methods") {
      ReadMethods(value, endpoint);
    } else if (entry.key == "url") {
      ReadUrl(value, endpoint);
    } else if (entry.key == "flow") {
      endpoint->flow = value.text;
    } else if (entry.key == "timeout") {
      ReadTimeout(value, endpoint);
    } else if (entry.key == "authentication") {
      ReadAuthentication(value, endpoint);
    } else if (entry.key == "tracing") {
      endpoint->tracing = ReadBool(value) ? Tracing::kTold : Tracing::kOff;
    } else if (entry.key == "upload") {
      endpoint->streams_uploads = value.text == "stream";
      endpoint->upload =
          endpoint->streams_uploads || ReadBool(value, "expected true, false or stream");
    } else if (entry.key == "trust_all_cert") {
      if (ReadBool(value)) endpoint->certificates = Certificates::kTrusted;
    } else if (entry.key == "url_rewrite") {
      ReadRewrite(value, endpoint);
    } else if (entry.key == "cors") {
      const auto found = config->cors.find(value.text);
      if (found == config->cors.end()) return Wrong(value, "there is no such entry in cors");
      endpoint->cors = &found->second;
    } else if (entry.key == "headers") {
      const auto found = config->headers.find(value.text);
      if (found == config->headers.end()) return Wrong(value, "there is no such entry in headers");
      endpoint->headers = &found->second;
    } else {
      ReadRareField(entry.key, entry, endpoint);
    }
  }

  // The reader has made maps in maps of a key with dots; messages show the key as it was written.
  void ReadRareField(const std::string& key, const yaml::Entry& entry, Endpoint* endpoint) {
    const Node& value = entry.value;
    if (value.is_map() && !value.entries.empty()) {
      for (const yaml::Entry& inner : value.entries) {
        ReadRareField(key + "." + inner.key, inner, endpoint);
      }
    } else if (key == "trace.id.header") {
      ReadHeaderName(value, &endpoint->trace_header);
    } else if (key == "correlation.id.header") {
      ReadHeaderName(value, &endpoint->correlation_header);
    } else if (key == "traceparent.header") {
      ReadHeaderName(value, &endpoint->parent_header);
    } else if (key == "on_disconnect") {
      if (value.text != "cancel" && value.text != "continue") {
        return Wrong(value, "on_disconnect: expected continue or cancel");
      }
      endpoint->cancels_on_disconnect = value.text == "cancel";
    } else if (key == "threshold") {
      problems_->AddWarning(Error(Code::kInvalidArgument, "rest.ignored",
                                  "'threshold' means nothing here: how large a body may be is the "
                                  "server's setting http.max_body")
                                .At({file_, entry.line, entry.column}));
    } else {
      Wrong(entry.line, entry.column,
            fmt::format("'{}' is not supported: expected service, methods, url, flow, timeout, "
                        "cors, headers, authentication, tracing, upload, url_rewrite, "
                        "trust_all_cert, on_disconnect, trace.id.header, correlation.id.header or "
                        "traceparent.header",
                        key));
    }
  }

  void ReadHeaderName(const Node& node, std::string* name) {
    constexpr std::string_view kNoName = "\t\r\n \"(),/:;<=>?@[\\]{}";
    if (!node.is_scalar() || node.text.empty() ||
        node.text.find_first_of(kNoName) != std::string::npos) {
      return Wrong(node, "expected the name of a header");
    }
    *name = node.text;
  }

  void ReadMethods(const Node& list, Endpoint* endpoint) {
    if (!list.is_list() || list.items.empty()) {
      Wrong(list, "methods: expected a list such as ['GET']");
    }
    for (const Node& item : list.items) {
      std::string method = Upper(item.text);
      if (std::ranges::find(kEndpointMethods, method) == std::end(kEndpointMethods)) {
        Wrong(item,
              fmt::format("'{}' is not a method: expected GET, PUT, POST, DELETE, HEAD or PATCH "
                          "(OPTIONS is answered by cors)",
                          item.text));
      } else {
        endpoint->methods.push_back(std::move(method));
      }
    }
  }

  // The part after `?`, such as `?decision=_`, is a note for people.
  static void ReadQuery(std::string_view text, Endpoint* endpoint) {
    while (!text.empty()) {
      const std::string_view pair = text.substr(0, text.find('&'));
      text.remove_prefix(std::min(pair.size() + 1, text.size()));
      const std::string_view name = flow::Trim(pair.substr(0, pair.find('=')));
      if (!name.empty()) endpoint->query.emplace_back(name);
    }
  }

  void ReadUrl(const Node& node, Endpoint* endpoint) {
    endpoint->url = node.text.substr(0, node.text.find('?'));
    ReadQuery(
        std::string_view(node.text).substr(std::min(endpoint->url.size() + 1, node.text.size())),
        endpoint);
    if (!endpoint->url.starts_with('/')) return Wrong(node, "url: expected /path");
    const std::vector<std::string_view> parts = SplitPath(endpoint->url);
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string part = LowerCase(parts[i]);
      using Kind = Segment::Kind;
      if (part.starts_with('{') && part.ends_with('}') && part.size() > 2) {
        const Segment segment{Kind::kParameter, part.substr(1, part.size() - 2)};
        if (std::ranges::find(endpoint->segments, segment) != endpoint->segments.end()) {
          Wrong(node, fmt::format("url: '{}' appears twice", parts[i]));
        }
        endpoint->segments.push_back(segment);
      } else if (part == "*" && i + 1 == parts.size()) {
        endpoint->segments.push_back({Kind::kRest, ""});
      } else if (part.ends_with('*')) {
        endpoint->segments.push_back({Kind::kPrefix, part.substr(0, part.size() - 1)});
      } else if (part.find_first_of("{}*") != std::string::npos) {
        Wrong(node, fmt::format("url: '{}' is neither a text, {{name}} nor text*", parts[i]));
      } else {
        endpoint->segments.push_back({Kind::kText, part});
      }
    }
  }

  void ReadTimeout(const Node& node, Endpoint* endpoint) {
    std::string text = node.text;
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) text += "s";
    const auto timeout_ms = ParseDurationMs(text);
    if (!timeout_ms) return Wrong(node, "timeout: expected a time such as 10s");
    endpoint->timeout_ms = std::clamp(*timeout_ms, kMinTimeoutMs, kMaxTimeoutMs);
  }

  bool ReadBool(const Node& node, const std::string& expected = "expected true or false") {
    if (node.text != "true" && node.text != "false") Wrong(node, expected);
    return node.text == "true";
  }

  // A route; or several, `header: route`, `header: value: route` and, last, `default: route`.
  void ReadAuthentication(const Node& node, Endpoint* endpoint) {
    if (node.is_scalar()) return endpoint->authentication.push_back({"", "", node.text});
    for (const Node& item : node.items) {
      std::vector<std::string> parts;
      for (std::string_view rest = item.text; !rest.empty();) {
        const size_t colon = rest.find(':');
        parts.emplace_back(flow::Trim(rest.substr(0, colon)));
        rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
      }
      if (parts.size() < 2 || parts.size() > 3) {
        Wrong(item, "expected 'header: route', 'header: value: route' or 'default: route'");
        continue;
      }
      AuthRule rule{LowerCase(parts[0]), parts.size() == 3 ? parts[1] : "", parts.back()};
      if (rule.header == "default" && parts.size() == 2) rule.header.clear();
      endpoint->authentication.push_back(std::move(rule));
    }
    std::ranges::stable_partition(endpoint->authentication,
                                  [](const AuthRule& rule) { return !rule.header.empty(); });
    if (endpoint->authentication.empty() || !endpoint->authentication.back().header.empty()) {
      Wrong(node, "authentication: expected a route, or a list with 'default: route'");
    }
  }

  void ReadRewrite(const Node& node, Endpoint* endpoint) {
    if (node.items.size() != 2 || !node.items[0].text.starts_with('/') ||
        (!node.items[1].text.starts_with('/') && !node.items[1].text.empty())) {
      return Wrong(node, "url_rewrite: expected two paths such as ['/api/v1', '/v1']");
    }
    endpoint->rewrite_from = node.items[0].text;
    endpoint->rewrite_to = node.items[1].text;
  }

  std::vector<std::string> ReadTexts(const Node& node) {
    std::vector<std::string> texts;
    if (!node.is_list()) Wrong(node, "expected a list");
    for (const Node& item : node.items) texts.push_back(item.text);
    return texts;
  }

  void ReadStatic(const Node& node, StaticContent* content) {
    if (!node.is_map()) return Wrong(node, "static-content: expected a map");
    for (const yaml::Entry& entry : node.entries) {
      if (entry.key == "folder") {
        std::string folder = entry.value.text;
        while (folder.ends_with('/')) folder.pop_back();
        if (!folder.starts_with("classpath:/") && !folder.starts_with("file:/")) {
          Wrong(entry.value, "folder: expected classpath:/folder or file:/folder");
        }
        content->folder = std::move(folder);
        content->folder_place = {file_, entry.value.line, entry.value.column};
      } else if (entry.key == "no-cache-pages") {
        content->no_cache = ReadTexts(entry.value);
      } else if (entry.key == "filter") {
        ReadFilter(entry.value, content);
      } else {
        Wrong(entry.line, entry.column,
              fmt::format("expected folder, no-cache-pages or filter, got '{}'", entry.key));
      }
    }
  }

  void ReadFilter(const Node& node, StaticContent* content) {
    for (const yaml::Entry& entry : node.entries) {
      if (entry.key == "path") {
        content->filter_paths = ReadTexts(entry.value);
      } else if (entry.key == "exclusion") {
        content->filter_exclusions = ReadTexts(entry.value);
      } else if (entry.key == "service") {
        content->filter_service = entry.value.text;
      } else {
        Wrong(entry.line, entry.column,
              fmt::format("expected path, exclusion or service, got '{}'", entry.key));
      }
    }
    if (content->filter_service != kUsersGuard &&
        names_.find_route(content->filter_service) == nullptr) {
      Wrong(node, "filter: " + NoRoute(content->filter_service));
    }
  }

  // One host, http://host or https://host, which gets all requests.
  void CheckRelay(const Node& node, Endpoint* endpoint) {
    endpoint->relay = endpoint->services[0];
    if (!IsHttpHost(endpoint->relay) || endpoint->services.size() != 1) {
      Wrong(*node.Find("service"), "a relay has one service, https://host without a path");
    }
    if (endpoint->rewrite_from.empty()) {
      Wrong(node, "'url_rewrite' is missing: two paths such as ['/api/v1', '/v1']");
    } else if (!LowerCase(endpoint->url).starts_with(LowerCase(endpoint->rewrite_from))) {
      Wrong(*node.Find("url_rewrite"), "url_rewrite: the url does not begin with the first path");
    }
    if (!endpoint->flow.empty()) Wrong(*node.Find("flow"), "a relay has no flow");
    if (endpoint->upload) Wrong(*node.Find("upload"), "a relay sends uploads on as they are");
  }

  std::string NoRoute(const std::string& route) const {
    return fmt::format("there is no route '{}'{}", route, DidYouMean(route, names_.routes));
  }

  void CheckServices(const Node& node, Endpoint* endpoint) {
    for (const AuthRule& rule : endpoint->authentication) {
      if (rule.service == kUsersGuard || rule.service == kNoGuard) continue;
      if (names_.find_route(rule.service) != nullptr) continue;
      Wrong(*node.Find("authentication"), NoRoute(rule.service));
    }
    if (endpoint->services.empty()) return;
    if (endpoint->services[0].starts_with("http:") || endpoint->services[0].starts_with("https:")) {
      return CheckRelay(node, endpoint);
    }
    for (const char* field : {"url_rewrite", "trust_all_cert"}) {
      if (node.Find(field) != nullptr) {
        Wrong(*node.Find(field), fmt::format("{} is for a service https://host", field));
      }
    }
    CheckRoutes(node, *endpoint);
  }

  void CheckRoutes(const Node& node, const Endpoint& endpoint) {
    const bool adapter = endpoint.services[0] == kFlowAdapter;
    if (adapter && endpoint.flow.empty()) return Wrong(node, "'flow' is missing");
    if (adapter && !names_.has_flow(endpoint.flow)) {
      Wrong(*node.Find("flow"), fmt::format("there is no flow '{}'{}", endpoint.flow,
                                            DidYouMean(endpoint.flow, names_.flows)));
    }
    if (!adapter && !endpoint.flow.empty()) {
      Wrong(*node.Find("flow"), fmt::format("a flow needs the service {}", kFlowAdapter));
    }
    for (const std::string& service : endpoint.services) {
      if (service == kFlowAdapter) continue;
      const Route* const route = names_.find_route(service);
      if (route == nullptr) {
        Wrong(*node.Find("service"), NoRoute(service));
      } else if (route->limits().is_private) {
        Wrong(*node.Find("service"),
              fmt::format("route '{}' is private: only flows call it", service));
      }
    }
  }

  const std::string file_;
  const RestNames& names_;
  flow::Problems* const problems_;
};

}  // namespace

RestConfig ReadRestConfig(const std::vector<flow::FlowText>& texts, const flow::Settings& settings,
                          const RestNames& names, flow::Problems* problems) {
  RestConfig config;
  std::vector<std::pair<Reader, Node>> files;
  for (const flow::FlowText& text : texts) {
    auto root = flow::ReadTree(text.text, text.file, settings, problems);
    if (root) files.emplace_back(Reader(text.file, names, problems), std::move(*root));
  }
  for (auto& [reader, root] : files) reader.ReadPolicies(root, &config);
  for (auto& [reader, root] : files) reader.ReadEndpoints(root, &config);
  std::ranges::stable_sort(config.endpoints, Reader::MoreSpecific);
  return config;
}

}  // namespace sluice::flow_engine
