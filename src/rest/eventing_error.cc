#include "rest/eventing_error.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "rest/body.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

using json::Value;

struct EventingCode {
  int code;
  std::string_view name;
  int http;
};

// All that clients may know, also those that nothing here answers.
constexpr EventingCode kCodes[] = {
    {0, "OK", 200},
    {1, "ERR_DEL_APP_PS", 500},
    {2, "ERR_DEL_APP_TS", 500},
    {5, "ERR_SAVE_APP_PS", 500},
    {6, "ERR_SAVE_APP_TS", 500},
    {7, "ERR_SET_SETTINGS_PS", 500},
    {11, "ERR_DEL_APP_SETTINGS_PS", 500},
    {12, "ERR_APP_NOT_DEPLOYED", 406},
    {13, "ERR_APP_NOT_FOUND_TS", 404},
    {14, "ERR_MARSHAL_RESP", 500},
    {15, "ERR_READ_REQ", 400},
    {16, "ERR_UNMARSHAL_PLD", 400},
    {17, "ERR_SRC_MB_SAME", 422},
    {20, "ERR_APP_ALREADY_DEPLOYED", 422},
    {21, "ERR_APP_NOT_BOOTSTRAPPED", 423},
    {22, "ERR_APP_NOT_UNDEPLOYED", 422},
    {23, "ERR_PROCESSING_OR_DEPLOYMENT_STATUS_NOT_FOUND", 400},
    {25, "ERR_BUCKET_TYPE_CHECK", 422},
    {26, "ERR_BUCKET_MEMCACHED", 422},
    {27, "ERR_HANDLER_COMPILATION", 422},
    {29, "ERR_APPNAME_MISMATCH", 422},
    {33, "ERR_SAVE_CONFIG", 400},
    {34, "ERR_GET_CONFIG", 500},
    {35, "ERR_GET_REBALANCE_STATUS", 500},
    {36, "ERR_REBALANCE_OR_FAILOVER_ONGOING", 406},
    {38, "ERR_INVALID_CONFIG", 400},
    {39, "ERR_APPCODE_SIZE", 400},
    {41, "ERR_BUCKET_MISSING", 400},
    {42, "ERR_CLUSTER_VERSION", 406},
    {45, "ERR_DEBUGGER_DISABLED", 400},
    {46, "ERR_MIXED_MODE", 406},
    {49, "ERR_BUCKET_ACCESS", 400},
    {50, "ERR_INTER_FUNCTION_RECURSION", 400},
    {51, "ERR_INTER_BUCKET_RECURSION", 400},
    {52, "ERR_UNSUPPORTED_SYNC_GATEWAY", 400},
    {53, "ERR_APP_NOT_FOUND", 400},
    {54, "ERR_METAKV_WRITE_FAILED", 500},
    {55, "ERR_REQUESTED_OP_FAILED", 400},
    {56, "ERR_COLLECTION_MISSING", 400},
    {58, "ERR_MAGMA_BACKEND", 400},
    {59, "INTERNAL_SERVER_ERROR", 500},
    {60, "ERR_FORBIDDEN", 403},
    {61, "ERR_UNAUTHENTICATED", 401},
    {62, "ERR_METHOD_NOT_ALLOWED", 405},
    {63, "ERR_INVALID_REQUEST", 400},
    {64, "ERR_APP_PAUSED", 422},
    {65, "ERR_CURSOR_LIMIT_REACHED", 400},
    {66, "ERR_SYNC_GATEWAY_DETECTION", 500},
    {67, "ERR_JWT_JIT_NOT_SUPPORTED", 403},
};
constexpr int kInvalidRequest = 63;
constexpr int kInternal = 59;
constexpr int kNotFound = 404;
constexpr int kCompilation = 27;

struct Known {
  std::string_view id;
  int code;
};
constexpr Known kKnownIds[] = {
    {"auth.bad_credentials", 61},
    {"auth.bad_header", 61},
    {"auth.blocked", 61},
    {"auth.forbidden", 60},
    {"auth.foreign_origin", 60},
    {"auth.required", 61},
    {"auth.token_expired", 61},
    {"bucket.not_found", 41},
    {"collection.not_found", 56},
    {"function.already_deployed", 20},
    {"function.already_paused", 64},
    {"function.async", 27},
    {"function.compile", 27},
    {"function.constant", 27},
    {"function.debugger_disabled", 45},
    {"function.entry_point", 27},
    {"function.eval", 27},
    {"function.half_state", 23},
    {"function.in_transition", 55},
    {"function.invalid_config", 38},
    {"function.js_timer", 27},
    {"function.module", 27},
    {"function.name_mismatch", 29},
    {"function.name_taken", 27},
    {"function.no_entry_point", 27},
    {"function.not_deployed", 12},
    {"function.not_found", 13},
    {"function.not_undeployed", 22},
    {"function.on_deploy_failed", 55},
    {"function.recursion", 51},
    {"function.same_keyspace", 17},
    {"function.shared_source", 50},
    {"function.sql_parameter", 27},
    {"function.sql_recursion", 51},
    {"function.sql_syntax", 27},
    {"function.syntax", 27},
    {"function.too_large", 39},
    {"function.top_level", 27},
    {"http.method_not_allowed", 62},
    {"json.invalid", 16},
    {"scope.not_found", 56},
};

const EventingCode& CodeOf(const Status& error) {
  const auto* known = std::ranges::find(kKnownIds, error.id(), &Known::id);
  const bool ours = error.code() == Code::kInternal || error.code() == Code::kIo ||
                    error.code() == Code::kCorruption;
  const int code = known != std::end(kKnownIds) ? known->code : ours ? kInternal : kInvalidRequest;
  return *std::ranges::find(kCodes, code, &EventingCode::code);
}

// As Couchbase describes what is wrong with code.
Value CompilationView(const Status& error) {
  const auto number = [&](const char* name) {
    const auto field = error.fields().find(name);
    return field == error.fields().end() ? 0 : std::atoll(field->second.c_str());
  };
  const auto area = error.fields().find("area");
  return Value::Object({{"compile_success", false},
                        {"language", "JavaScript"},
                        {"index", number("index")},
                        {"description", RepairedText(error.message())},
                        {"line_number", number("line")},
                        {"column_number", number("column")},
                        {"area", area == error.fields().end() ? "handlerCode" : area->second}});
}

}  // namespace

Value EventingErrorView(const Status& error) {
  const EventingCode& code = CodeOf(error);
  return Value::Object(
      {{"name", code.name},
       {"code", code.code},
       {"description",
        code.code == kCompilation ? CompilationView(error) : Value(RepairedText(error.message()))},
       {"id", error.id()}});
}

void AnswerEventingError(Response& response, const Status& error) {
  // Couchbase's codes have none for these; ERR_INVALID_REQUEST alone is answered with 400.
  const bool missing = error.id() == "timer.not_found" || error.id() == "failure.not_found";
  AnswerEventingError(response, missing ? kNotFound : CodeOf(error).http, error);
}

void AnswerEventingError(Response& response, int http_status, const Status& error) {
  response.AddHeader("status", std::to_string(CodeOf(error).code));
  response.Json(http_status, AnswerText(EventingErrorView(error)));
}

Value EventingSuccessView(std::string_view info, const std::vector<std::string>& warnings) {
  Value view = Value::Object({{"code", 0}, {"info", info}});
  if (warnings.empty()) return view;
  Value list = Value::EmptyArray();
  for (const std::string& warning : warnings) list.Append(Value(RepairedText(warning)));
  view.Set("warning_info", Value::Object({{"status", info}, {"warnings", std::move(list)}}));
  return view;
}

void AnswerEventingSuccess(Response& response, std::string_view info,
                           const std::vector<std::string>& warnings) {
  response.AddHeader("status", "0");
  response.Json(200, AnswerText(EventingSuccessView(info, warnings)));
}

Value EventingErrorCodes() {
  Value errors = Value::EmptyArray();
  for (const EventingCode& code : kCodes) {
    errors.Append(Value::Object({{"name", code.name}, {"code", code.code}}));
  }
  return Value::Object(
      {{"header_key", "status"}, {"version", 1}, {"revision", 1}, {"errors", errors}});
}

}  // namespace sluice::rest
