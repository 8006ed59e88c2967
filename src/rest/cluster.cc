#include "rest/cluster.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "json/value.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

using json::Value;

Value Pools(const ClusterNode& node, const Request&) {
  return Value::Object(
      {{"pools", Value::Array({Value::Object({{"name", "default"}, {"uri", "/pools/default"}})})},
       {"isEnterprise", true},
       {"implementationVersion", node.version + "-enterprise"}});
}

Value Services() { return Value::Array({"kv", "n1ql", "eventing"}); }

// The client's name for this machine is the one that leads here again.
Value DefaultPool(const ClusterNode& node, const Request& request) {
  const Value self =
      Value::Object({{"hostname", RepairedText(request.FindHeader("Host").value_or(""))},
                     {"version", node.version + "-enterprise"},
                     {"status", "healthy"},
                     {"clusterMembership", "active"},
                     {"thisNode", true},
                     {"services", Services()}});
  return Value::Object({{"name", "default"}, {"nodes", Value::Array({self})}});
}

Value ServicePorts(const ClusterNode& node) {
  const auto port = [&](const char* plain, const char* secure, uint16_t number) {
    return std::pair<std::string, Value>(node.tls ? secure : plain, Value(int64_t{number}));
  };
  Value services = Value::EmptyObject();
  for (const auto& [name, number] :
       {port("mgmt", "mgmtSSL", node.http_port()), port("n1ql", "n1qlSSL", node.http_port()),
        port("eventingAdminPort", "eventingSSL", node.eventing_port())}) {
    services.Set(name, number);
  }
  return services;
}

// No "hostname": of one node, clients go on with the host that they asked.
Value NodeServices(const ClusterNode& node, const Request&) {
  const Value self = Value::Object({{"services", ServicePorts(node)}, {"thisNode", true}});
  return Value::Object({{"rev", 1}, {"nodesExt", Value::Array({self})}});
}

}  // namespace

Value NodeRow(const ClusterNode& node, const std::string& host) {
  return Value::Object({{"name", fmt::format("{}:{}", host, node.http_port())},
                        {"ports", ServicePorts(node)},
                        {"services", Services()}});
}

Status AddClusterRoutes(Router& router, ClusterNode node) {
  const auto kept = std::make_shared<const ClusterNode>(std::move(node));
  struct Resource {
    const char* path;
    const char* summary;
    Value (*view)(const ClusterNode&, const Request&);
  };
  for (const Resource& resource : {
           Resource{"/pools", "The cluster, for tools of Couchbase", Pools},
           Resource{"/pools/default", "Its node", DefaultPool},
           Resource{"/pools/default/nodeServices", "The ports of its services", NodeServices},
       }) {
    RETURN_IF_ERROR(
        router.Add({.method = Method::kGet,
                    .path = resource.path,
                    .summary = resource.summary,
                    .tag = "operation",
                    .responses = {{200, "the fields that couchbase-cli reads", Content{}}},
                    .auth = std::string(kKnown),
                    .handler = [kept, view = resource.view](Request& request, Response& response) {
                      response.Json(200, AnswerText(view(*kept, request)));
                    }}));
  }
  return OkStatus();
}

}  // namespace sluice::rest
