// A trial: what `sluice fn test` does with one function, from a JSON file that its author wrote.
// What is there before, what happens then, and what must come of it.
//
//   {
//     "about": "a large order is verified",
//     "function": "../functions/verify.js",        the code; verify.yaml beside it has the rest
//     "now": "2026-01-01T00:00:00Z",               what time it is when the trial begins
//     "documents": {"shop": {"k": {...}}},         before the function is deployed, by keyspace
//     "http": [{"request": {"method": "GET", "url": "https://..."},
//               "response": {"status": 200, "body": {...}}}],
//     "steps": [{"put": "k", "value": {...}}, {"delete": "k"}, {"advance": "5m"}],
//     "expect": {"documents": {...}, "log": [...], "timers": [...]}
//   }
//
// docs/reference/functions.md tells all of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "db/types.h"
#include "json/value.h"

namespace sluice::function::trial {

// One document. A value {"$base64": "AP8="} is a binary one.
struct Put {
  std::optional<db::KeyspaceName> keyspace;  // none: the function's source
  std::string key;
  json::Value value;
  json::Value xattrs;      // an object, or missing
  uint64_t expiry_ms = 0;  // from then on; 0 for never
};
struct Delete {
  std::optional<db::KeyspaceName> keyspace;
  std::string key;
};
struct Advance {
  uint64_t ms = 0;
};
// What must be there. What is missing is not looked at; but in the end there must be no failures
// that the file does not have.
struct Expectations {
  bool last = false;
  std::string where;                        // in the file
  json::Value documents;                    // all of these keyspaces, by keyspace and key
  json::Value log;                          // of each line, a part
  json::Value timers;                       // all that wait: callback, reference, due, context
  json::Value failures;                     // of each event that failed, a part of its message
  json::Value statistics;                   // counts, by group and name
  std::optional<std::string> refused;       // a part of the error that deploying it gives
  std::vector<db::KeyspaceName> keyspaces;  // those of `documents`, in its order
};
using Step = std::variant<Put, Delete, Advance, Expectations>;

// A request that must be made once, and what is answered.
struct Exchange {
  std::string method;
  std::string url;
  json::Value headers;  // those that the request must have, or missing
  json::Value body;     // text, or the value of a JSON body, or missing
  int status = 200;
  std::vector<std::pair<std::string, std::string>> response_headers;
  json::Value response_body;  // as `body`
  std::string error;          // if it has one, the request fails with it
};

struct Trial {
  std::string about;
  std::string function;
  uint64_t now_ms = 0;
  std::vector<Put> documents;
  std::vector<db::KeyspaceName> keyspaces;  // all that the file names
  std::vector<Exchange> http;
  std::vector<Step> steps;
  Expectations expect;
};

// No trial goes beyond it, 2500-01-01: nanoseconds have to count up to it.
inline constexpr uint64_t kLastMs = 16'725'225'600'000;

// Errors: json.invalid, and trial.invalid, which names the place in the file: steps[2].put.
Result<Trial> ParseTrial(std::string_view text);

// 2026-01-01T00:00:00.000Z, and back; nothing for a value that is no moment.
std::string PrintMoment(uint64_t unix_ms);
std::optional<uint64_t> MomentOf(const json::Value& value);

}  // namespace sluice::function::trial
