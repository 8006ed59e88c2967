// Router: the resources of one listener. Built once, then immutable and shared between threads; a
// listener that must change gets a new one (Server::SetRouter).
//
// Patterns: "/v1/docs/{keyspace}/{key...}". {name} takes one segment, {name...} the rest of the
// path (at least one character). Segments are split before they are decoded, so an encoded slash
// (%2F) stays inside its parameter. A literal segment wins over {name}, {name} over {name...}.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/handler.h"
#include "http/websocket.h"
#include "json/value.h"

namespace sluice::http {

struct Parameter {
  enum class In : uint8_t { kQuery, kHeader, kPath };

  std::string name = {};
  In in = In::kQuery;
  std::string description = {};
  std::string type = "string";  // of JSON schema
  bool required = false;        // path parameters always are
};

// A request's or response's body, for OpenAPI.
struct Content {
  std::string description = {};
  std::string type = "application/json";
  json::Value schema = {};  // a JSON schema; missing for anything
};

struct ResponseInfo {
  int status = 200;
  std::string description = {};
  std::optional<Content> content = std::nullopt;
};

struct Route {
  Method method = Method::kGet;
  std::string path = {};
  std::string summary = {};
  std::string tag = {};
  std::string description = {};
  std::vector<Parameter> parameters = {};  // path parameters need no entry
  std::optional<Content> request = std::nullopt;
  std::vector<ResponseInfo> responses = {};
  std::string auth = {};  // the permission that the filter asks for; opaque here, empty for none
  Handler handler = {};
  WebSocketHandler websocket = {};  // instead of handler, for GET: answers an upgrade
  size_t max_message_bytes = 0;     // of a client's message; 0: the server's limit
  // Called with the head of a request whose body comes later. Returns how many bytes may be in
  // memory before the body goes to disk (Request::spooled); nothing: it must not go there.
  std::function<std::optional<size_t>(const Request&)> spool_above = {};
  bool hidden = false;  // not in OpenAPI
};

class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  // http.bad_route when the pattern is malformed or another route already takes its requests.
  Status Add(Route route);
  // Sets how errors are answered for the path and all paths below it, also those without a route;
  // "" is all paths.
  void SetErrorAnswer(std::string path, Response::ErrorAnswer answer);
  // Null for the usual shape.
  Response::ErrorAnswer ErrorAnswerOf(std::string_view path) const;

  struct Match {
    const Route* route = nullptr;
    bool path_known = false;  // some method is defined for the path
    std::string allow;        // those methods, when the request's is not among them
    bool bad_escape = false;  // a malformed percent escape in the path
  };
  // Finds the request's route and sets its path parameters. HEAD finds GET routes.
  Match Find(Request* request) const;

  const std::vector<std::unique_ptr<Route>>& routes() const { return routes_; }

 private:
  struct Node;
  struct Search;

  std::vector<std::unique_ptr<Route>> routes_;  // in the order added
  std::unique_ptr<Node> root_;
  std::vector<std::pair<std::string, Response::ErrorAnswer>> error_answers_;
};

}  // namespace sluice::http
