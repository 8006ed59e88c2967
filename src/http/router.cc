// A tree by path segments. A node's routes are those whose pattern ends there. Search tries
// literal, {name}, {name...} in this order and steps back when a branch does not lead to a route;
// it visits each node at most once, because a node's depth fixes the segment that it is tried with.
#include "http/router.h"

#include <algorithm>
#include <functional>

namespace sluice::http {
namespace {

constexpr size_t kMaxSegments = 16;

struct Segment {
  enum class Kind : uint8_t { kLiteral, kOne, kRest };
  Kind kind;
  std::string text;  // literal, or the parameter's name
};

bool IsName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<Segment> ParseSegment(std::string_view text) {
  if (text.find_first_of("{}") == std::string_view::npos) {
    return Segment{Segment::Kind::kLiteral, std::string(text)};
  }
  if (text.size() >= 2 && text.front() == '{' && text.back() == '}') {
    std::string_view name = text.substr(1, text.size() - 2);
    const bool rest = name.ends_with("...");
    if (rest) name.remove_suffix(3);
    if (IsName(name)) {
      return Segment{rest ? Segment::Kind::kRest : Segment::Kind::kOne, std::string(name)};
    }
  }
  return Fail(Code::kInvalidArgument, "http.bad_route",
              "expected a literal, {{name}} or {{name...}}, found '{}'", text);
}

Result<std::vector<Segment>> ParsePattern(std::string_view pattern) {
  if (!pattern.starts_with('/')) {
    return Fail(Code::kInvalidArgument, "http.bad_route", "path '{}' must begin with '/'", pattern);
  }
  std::vector<Segment> segments;
  std::string_view rest = pattern.substr(1);
  while (true) {
    const size_t slash = rest.find('/');
    ASSIGN_OR_RETURN(Segment segment, ParseSegment(rest.substr(0, slash)));
    const bool takes_rest = segment.kind == Segment::Kind::kRest;
    segments.push_back(std::move(segment));
    if (slash == std::string_view::npos) break;
    if (takes_rest || segments.size() == kMaxSegments) {
      return Fail(Code::kInvalidArgument, "http.bad_route",
                  "path '{}': {{name...}} must come last, and at most {} segments", pattern,
                  kMaxSegments);
    }
    rest.remove_prefix(slash + 1);
  }
  return segments;
}

}  // namespace

struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
  std::unique_ptr<Node> one;
  std::unique_ptr<Node> rest;
  std::vector<const Route*> routes;                  // at most one per method
  std::vector<std::vector<std::string>> parameters;  // names, beside routes
};

// One request's way down the tree.
struct Router::Search {
  const Node* found = nullptr;
  bool bad_escape = false;
  std::vector<std::string> values;  // of the parameters passed

  // `path` begins after the slash before this node's segment.
  bool Walk(const Node& node, std::string_view path) {
    const size_t slash = path.find('/');
    const std::string_view raw = path.substr(0, slash);
    std::string decoded;
    std::string_view segment = raw;
    if (raw.find('%') != std::string_view::npos) {
      auto result = PercentDecode(raw);
      if (!result) {
        bad_escape = true;
        return false;
      }
      decoded = std::move(*result);
      segment = decoded;
    }
    const auto next = [&](const Node& child) {
      return slash == std::string_view::npos ? Reached(child) : Walk(child, path.substr(slash + 1));
    };
    const auto literal = node.literals.find(segment);
    if (literal != node.literals.end() && next(*literal->second)) return true;
    if (node.one && !segment.empty()) {
      values.emplace_back(segment);
      if (next(*node.one)) return true;
      values.pop_back();
    }
    return node.rest && TakeRest(*node.rest, path);
  }

  bool Reached(const Node& node) {
    if (node.routes.empty()) return false;
    found = &node;
    return true;
  }

  bool TakeRest(const Node& node, std::string_view path) {
    if (path.empty()) return false;
    auto decoded = PercentDecode(path);
    if (!decoded) {
      bad_escape = true;
      return false;
    }
    values.push_back(std::move(*decoded));
    return Reached(node);
  }
};

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

Status Router::Add(Route route) {
  if (static_cast<bool>(route.handler) == static_cast<bool>(route.websocket)) {
    return Error(Code::kInvalidArgument, "http.bad_route",
                 "path '{}' needs a handler or a websocket, one of them", route.path);
  }
  ASSIGN_OR_RETURN(const std::vector<Segment> segments, ParsePattern(route.path));
  Node* node = root_.get();
  std::vector<std::string> names;
  for (const Segment& segment : segments) {
    std::unique_ptr<Node>& child = segment.kind == Segment::Kind::kLiteral
                                       ? node->literals[segment.text]
                                   : segment.kind == Segment::Kind::kOne ? node->one
                                                                         : node->rest;
    if (segment.kind != Segment::Kind::kLiteral) names.push_back(segment.text);
    if (!child) child = std::make_unique<Node>();
    node = child.get();
  }
  for (const Route* other : node->routes) {
    if (other->method == route.method) {
      return Error(Code::kAlreadyExists, "http.bad_route", "{} {} is already defined, as '{}'",
                   MethodName(route.method), route.path, other->path);
    }
  }
  routes_.push_back(std::make_unique<Route>(std::move(route)));
  node->routes.push_back(routes_.back().get());
  node->parameters.push_back(std::move(names));
  return OkStatus();
}

void Router::SetErrorAnswer(std::string path, Response::ErrorAnswer answer) {
  error_answers_.emplace_back(std::move(path), answer);
}

Response::ErrorAnswer Router::ErrorAnswerOf(std::string_view path) const {
  for (const auto& [above, answer] : error_answers_) {
    if (!path.starts_with(above)) continue;
    if (path.size() == above.size() || path[above.size()] == '/') return answer;
  }
  return nullptr;
}

Router::Match Router::Find(Request* request) const {
  Match match;
  Search search;
  if (!request->path_.starts_with('/') || !search.Walk(*root_, request->path_.substr(1))) {
    match.bad_escape = search.bad_escape;
    return match;
  }
  const Node& node = *search.found;
  const auto index_of = [&](Method method) {
    const auto at = std::find_if(node.routes.begin(), node.routes.end(),
                                 [&](const Route* route) { return route->method == method; });
    return static_cast<size_t>(at - node.routes.begin());
  };
  size_t index = index_of(request->method_);
  if (index == node.routes.size() && request->method_ == Method::kHead) {
    index = index_of(Method::kGet);
  }
  match.path_known = true;
  if (index == node.routes.size()) {
    for (const Route* route : node.routes) {
      if (!match.allow.empty()) match.allow += ", ";
      match.allow += MethodName(route->method);
      if (route->method == Method::kGet) match.allow += ", HEAD";
    }
    return match;
  }
  match.route = node.routes[index];
  for (size_t i = 0; i < search.values.size(); ++i) {
    request->params_.emplace_back(node.parameters[index][i], std::move(search.values[i]));
  }
  return match;
}

}  // namespace sluice::http
