// What holds for all functions: the configuration, the codes of errors.
#include "json/parse.h"
#include "rest/access.h"
#include "rest/eventing_error.h"
#include "rest/eventing_routes.h"
#include "rest/function_metrics.h"

namespace sluice::rest {
namespace {

using json::Value;

// There is one configuration; Couchbase's newest version has more, one for each scope.
Status CheckGlobal(const Request& request) {
  if (!request.Query("bucket") && !request.Query("scope")) return OkStatus();
  return Error(Code::kUnsupported, "function.scoped_config",
               "there is one configuration for all functions: leave out bucket and scope");
}

void ShowConfig(EventingCall& call) {
  if (const Status global = CheckGlobal(call.request); !global.ok()) return call.Refuse(global);
  call.Answer(call.manager.config().Print());
}

Status ChangeConfig(const EventingCall& call) {
  RETURN_IF_ERROR(CheckGlobal(call.request));
  ASSIGN_OR_RETURN(const Value changes, json::Parse(call.request.body()));
  return call.manager.SetConfig(changes);
}

void StoreConfig(EventingCall& call) { call.Done(ChangeConfig(call), "Successfully stored"); }

Status RestoreDefaults(const EventingCall& call) {
  RETURN_IF_ERROR(CheckGlobal(call.request));
  Value defaults = Value::EmptyObject();
  const Value given = call.manager.config().given;
  for (const json::Field& field : given.fields()) defaults.Set(field.name(), Value(nullptr));
  return call.manager.SetConfig(defaults);
}

void DeleteConfig(EventingCall& call) { call.Done(RestoreDefaults(call), "Successfully deleted"); }

void ShowErrorCodes(EventingCall& call) { call.Answer(EventingErrorCodes()); }

void ShowFunctionMetrics(EventingCall& call) {
  std::string out;
  AppendFunctionMetrics(call.manager, &out);
  call.response.Body(200, "text/plain; version=0.0.4; charset=utf-8", std::move(out));
}

constexpr EventingRoute kServerRoutes[] = {
    {Method::kGet, "/api/v1/config", "The configuration of all functions", ShowConfig, kAdmin},
    {Method::kPost, "/api/v1/config", "Change the configuration", StoreConfig, kAdmin},
    {Method::kDelete, "/api/v1/config", "Go back to the default configuration", DeleteConfig,
     kAdmin},
    {Method::kGet, "/_prometheusMetrics", "Numbers of all functions for Prometheus",
     ShowFunctionMetrics, kAdmin},
    {Method::kGet, "/_prometheusMetricsHigh", "The same", ShowFunctionMetrics, kAdmin},
    {Method::kGet, "/getErrorCodes", "Names and codes of errors", ShowErrorCodes, kKnown},
};

}  // namespace

std::span<const EventingRoute> ServerRoutes() { return kServerRoutes; }

}  // namespace sluice::rest
