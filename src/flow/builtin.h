// The functions that every app has and that need nothing from outside.
//
//   no.op                      answers with the headers and the body that it got
//   echo                       answers with {headers, body}
//   simple.exception.handler   status, message -> {type: error, status, message}
//   resilience.handler         decides between again (1), giving up (2) and another way (3), below
#pragma once

#include <cstdint>
#include <string_view>

#include "json/value.h"

namespace sluice::flow {

struct BuiltinAnswer {
  int status = 200;
  json::Value headers = json::Value::EmptyObject();
  json::Value body;
  uint64_t hold_next_ms = 0;  // TaskResult
};

using Builtin = BuiltinAnswer (*)(const json::Value& headers, const json::Value& body,
                                  uint64_t now_ms);

// nullptr if no built-in function has this route.
Builtin FindBuiltin(std::string_view route);

// resilience.handler takes status and message of an error, attempt (how many there were) and
// max_attempts (1), alternative ("401, 403-404": statuses for another way), delay (milliseconds
// before another attempt), and for a time of rest backoff_trigger (failures), backoff_seconds,
// cumulative (failures so far) and backoff (until when). It answers decision, attempt, cumulative,
// status, message and, at rest, backoff.
BuiltinAnswer HandleResilience(const json::Value& headers, const json::Value& body,
                               uint64_t now_ms);

}  // namespace sluice::flow
