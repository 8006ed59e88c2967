#include "http/rest/eventing_error.h"

#include <algorithm>
#include <string_view>

#include "http/rest/body.h"
#include "json/value.h"

namespace sluice::http::rest {
namespace {

struct Known {
  std::string_view id;
  std::string_view name;
  int code;
  int http;
};

constexpr Known kKnown[] = {
    {"function.not_found", "ERR_APP_NOT_FOUND_TS", 13, 404},
    {"function.compile", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.async", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.constant", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.entry_point", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.eval", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.js_timer", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.module", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.name_taken", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.no_entry_point", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.sql_parameter", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.sql_syntax", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.syntax", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.top_level", "ERR_HANDLER_COMPILATION", 27, 422},
    {"function.too_large", "ERR_APPCODE_SIZE", 39, 400},
    {"function.already_deployed", "ERR_APP_ALREADY_DEPLOYED", 20, 422},
    {"function.not_deployed", "ERR_APP_NOT_DEPLOYED", 12, 406},
    {"function.not_undeployed", "ERR_APP_NOT_UNDEPLOYED", 22, 422},
    {"function.already_paused", "ERR_APP_PAUSED", 64, 422},
    {"function.same_keyspace", "ERR_SRC_MB_SAME", 17, 422},
    {"function.recursion", "ERR_INTER_BUCKET_RECURSION", 51, 400},
    {"function.sql_recursion", "ERR_INTER_BUCKET_RECURSION", 51, 400},
    {"function.shared_source", "ERR_INTER_FUNCTION_RECURSION", 50, 400},
    {"function.invalid_config", "ERR_INVALID_CONFIG", 38, 400},
    {"function.on_deploy_failed", "ERR_REQUESTED_OP_FAILED", 55, 400},
    {"json.invalid", "ERR_UNMARSHAL_PLD", 16, 400},
    {"bucket.not_found", "ERR_BUCKET_MISSING", 41, 400},
    {"scope.not_found", "ERR_COLLECTION_MISSING", 56, 400},
    {"collection.not_found", "ERR_COLLECTION_MISSING", 56, 400},
};
constexpr Known kInvalid = {"", "ERR_INVALID_REQUEST", 63, 400};
constexpr Known kInternal = {"", "INTERNAL_SERVER_ERROR", 59, 500};

}  // namespace

void AnswerEventingError(Response& response, const Status& error) {
  const auto* found = std::ranges::find(kKnown, error.id(), &Known::id);
  const bool ours = error.code() == Code::kInternal || error.code() == Code::kIo ||
                    error.code() == Code::kCorruption;
  const Known& known = found != std::end(kKnown) ? *found : ours ? kInternal : kInvalid;
  response.AddHeader("status", std::to_string(known.code));
  response.Json(known.http, AnswerText(json::Value::Object({{"name", known.name},
                                                            {"code", known.code},
                                                            {"description", error.message()},
                                                            {"id", error.id()}})));
}

void AnswerEventingSuccess(Response& response, std::string_view info) {
  response.AddHeader("status", "0");
  response.Json(200, AnswerText(json::Value::Object({{"code", 0}, {"info", info}})));
}

}  // namespace sluice::http::rest
