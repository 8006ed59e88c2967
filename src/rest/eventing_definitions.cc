// What functions are: definitions, and their parts by themselves.
#include <openssl/sha.h>

#include "json/parse.h"
#include "rest/access.h"
#include "rest/eventing_routes.h"

namespace sluice::rest {
namespace {

using function::Definition;
using function::Secrets;
using function::State;
using json::Value;

constexpr std::string_view kStored = "Successfully stored";

// A definition, or a list with one, as clients send both.
Result<Value> OneDefinition(std::string_view body) {
  ASSIGN_OR_RETURN(Value value, json::Parse(body));
  if (value.is_array() && value.size() == 1) return Value(value[0]);
  return value;
}

void ListFunctions(EventingCall& call) {
  Value list = Value::EmptyArray();
  for (const Definition& definition : ListManaged(call)) {
    list.Append(PrintDefinition(definition, Secrets::kMasked));
  }
  call.Answer(list);
}

void RemoveFunctions(EventingCall& call) {
  EventingResults results;
  for (const Definition& definition : ListManaged(call)) {
    if (definition.settings.deployed) continue;
    const std::string location = definition.Location();
    const Status removed = call.manager.Remove(location);
    results.Add(location, removed.ok() ? Result<Warnings>(Warnings()) : Unexpected(removed),
                definition.name);
  }
  results.AnswerTo(call);
}

void ShowFunction(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  call.Answer(PrintDefinition(*definition, Secrets::kMasked));
}

// Of the request's body.
Result<Definition> GivenDefinition(const EventingCall& call) {
  ASSIGN_OR_RETURN(const Value body, OneDefinition(call.request.body()));
  ASSIGN_OR_RETURN(Definition definition, function::ParseDefinition(body));
  if (const std::string_view name = call.request.Param("name"); name != definition.name) {
    return Fail(Code::kInvalidArgument, "function.name_mismatch",
                "the path names the function '{}', its definition '{}'", name, definition.name);
  }
  return definition;
}

Result<Warnings> StoreOne(const EventingCall& call) {
  ASSIGN_OR_RETURN(Definition definition, GivenDefinition(call));
  return StoreFor(call, std::move(definition));
}

void StoreFunction(EventingCall& call) { call.Done(StoreOne(call), kStored); }

Status CheckOne(const EventingCall& call) {
  ASSIGN_OR_RETURN(Definition definition, GivenDefinition(call));
  RETURN_IF_ERROR(MayStore(call, definition));
  return call.manager.Check(std::move(definition));
}

void CheckFunction(EventingCall& call) { call.Done(CheckOne(call), "It can be deployed"); }

Status RemoveOne(const EventingCall& call) {
  ASSIGN_OR_RETURN(const Definition definition, FindManaged(call, call.location()));
  const auto uuid = call.request.Query("handleruuid");
  if (uuid && *uuid != std::to_string(definition.uuid)) {
    return Error(Code::kNotFound, "function.not_found",
                 "there is no function '{}' of handleruuid {}", definition.name, *uuid);
  }
  return call.manager.Remove(definition.Location());
}

void RemoveFunction(EventingCall& call) { call.Done(RemoveOne(call), "Successfully deleted"); }

// --- code ---------------------------------------------------------------------------------------

void ShowCode(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  call.response.AddHeader("status", "0");
  call.response.Body(200, "application/javascript", definition->code);
}

void ShowChecksum(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  unsigned char digest[SHA256_DIGEST_LENGTH];
  const std::string& code = definition->code;
  SHA256(reinterpret_cast<const unsigned char*>(code.data()), code.size(), digest);
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  call.response.AddHeader("status", "0");
  call.response.Text(200, std::move(hex));
}

Result<Warnings> ReplaceCode(const EventingCall& call) {
  ASSIGN_OR_RETURN(Definition definition, FindManaged(call, call.location()));
  definition.code = call.request.body();
  return StoreFor(call, std::move(definition));
}

void StoreCode(EventingCall& call) { call.Done(ReplaceCode(call), kStored); }

// --- settings -----------------------------------------------------------------------------------

void ShowSettings(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  call.Answer(PrintSettings(definition->settings));
}

State WantedState(const function::Settings& settings) {
  if (!settings.deployed) return State::kUndeployed;
  return settings.processing ? State::kDeployed : State::kPaused;
}

// Settings that are not named stay as they are. The two of the state change it: what ends a run
// goes before the other settings, what starts one after them.
Result<Warnings> ChangeSettings(const EventingCall& call) {
  ASSIGN_OR_RETURN(Definition definition, FindManaged(call, call.location()));
  ASSIGN_OR_RETURN(const Value changes, json::Parse(call.request.body()));
  const bool deployment = !changes["deployment_status"].is_missing();
  if (deployment != !changes["processing_status"].is_missing()) {
    return Fail(Code::kInvalidArgument, "function.half_state",
                "settings: deployment_status and processing_status go together");
  }
  RETURN_IF_ERROR(ParseSettings(changes, &definition.settings,
                                definition.enforce_schema ? function::UnknownSettings::kRefused
                                                          : function::UnknownSettings::kKept));
  const std::string location = definition.Location();
  const State wanted = WantedState(definition.settings);
  if (wanted != State::kDeployed) RETURN_IF_ERROR(call.manager.SetState(location, wanted));
  return StoreFor(call, std::move(definition));
}

void StoreSettings(EventingCall& call) { call.Done(ChangeSettings(call), kStored); }

// --- source and bindings ------------------------------------------------------------------------

void ShowDeployment(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  call.Answer(PrintDeployment(*definition, Secrets::kMasked));
}

Result<Warnings> ReplaceDeployment(const EventingCall& call) {
  ASSIGN_OR_RETURN(Definition definition, FindManaged(call, call.location()));
  ASSIGN_OR_RETURN(const Value depcfg, json::Parse(call.request.body()));
  RETURN_IF_ERROR(ParseDeployment(depcfg, &definition));
  return StoreFor(call, std::move(definition));
}

void StoreDeployment(EventingCall& call) { call.Done(ReplaceDeployment(call), kStored); }

constexpr EventingRoute kDefinitionRoutes[] = {
    {Method::kGet, "/api/v1/functions", "List functions", ListFunctions, kKnown},
    {Method::kDelete, "/api/v1/functions", "Delete all undeployed functions", RemoveFunctions,
     kKnown},
    {Method::kGet, "/api/v1/functions/{name}", "A function's definition", ShowFunction, kKnown},
    {Method::kPost, "/api/v1/functions/{name}", "Create or replace a function", StoreFunction,
     kKnown},
    {Method::kPost, "/api/v1/functions/{name}/check", "Whether a definition could be deployed",
     CheckFunction, kKnown},
    {Method::kDelete, "/api/v1/functions/{name}", "Delete an undeployed function", RemoveFunction,
     kKnown},
    {Method::kGet, "/api/v1/functions/{name}/appcode", "A function's code", ShowCode, kKnown},
    {Method::kPost, "/api/v1/functions/{name}/appcode", "Replace a function's code", StoreCode,
     kKnown},
    {Method::kGet, "/api/v1/functions/{name}/appcode/checksum", "The SHA-256 of a function's code",
     ShowChecksum, kKnown},
    {Method::kGet, "/api/v1/functions/{name}/settings", "A function's settings", ShowSettings,
     kKnown},
    {Method::kPost, "/api/v1/functions/{name}/settings", "Change settings, or the state",
     StoreSettings, kKnown},
    {Method::kGet, "/api/v1/functions/{name}/config", "A function's source and bindings",
     ShowDeployment, kKnown},
    {Method::kPost, "/api/v1/functions/{name}/config", "Replace source and bindings",
     StoreDeployment, kKnown},
};

}  // namespace

std::span<const EventingRoute> DefinitionRoutes() { return kDefinitionRoutes; }

}  // namespace sluice::rest
