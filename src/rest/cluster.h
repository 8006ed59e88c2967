// What tools of Couchbase, such as couchbase-cli, ask a cluster before they go to its services:
// /pools and what is below it. Here it is one node.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "json/value.h"
#include "rest/http_types.h"

namespace sluice::rest {

struct ClusterNode {
  std::string version;  // of the Couchbase whose interfaces it has: "7.6.0-0000"
  bool tls = false;
  // Known when the listeners are bound.
  std::function<uint16_t()> http_port;
  std::function<uint16_t()> eventing_port;
};
Status AddClusterRoutes(Router& router, ClusterNode node);
// Of system:nodes. `host` is what clients call this machine.
json::Value NodeRow(const ClusterNode& node, const std::string& host);

}  // namespace sluice::rest
