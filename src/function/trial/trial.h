// A trial is a test of one function, which its author writes in a JSON file and `sluice fn test`
// plays. The file has the documents before the test, the steps, and the expected results.
//
//   {
//     "about": "a large order is verified",
//     "function": "../functions/verify.js",        the code; verify.yaml beside it has the rest
//     "now": "2026-01-01T00:00:00Z",               the time at the begin of the trial
//     "documents": {"shop": {"k": {...}}},         before the function is deployed, by keyspace
//     "http": [{"request": {"method": "GET", "url": "https://..."},
//               "response": {"status": 200, "body": {...}}}],
//     "steps": [{"put": "k", "value": {...}}, {"delete": "k"}, {"advance": "5m"}],
//     "expect": {"documents": {...}, "log": [...], "timers": [...]}
//   }
//
// docs/reference/functions.md describes all of it.
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
  uint64_t expiry_ms = 0;  // after the step; 0: never
};
struct Delete {
  std::optional<db::KeyspaceName> keyspace;
  std::string key;
};
struct Advance {
  uint64_t ms = 0;
};
// Expected results. A missing member is not checked, except that at the end there must be no
// failures that the file does not expect.
struct Expectations {
  bool last = false;
  std::string where;                        // in the file
  json::Value documents;                    // all documents of these keyspaces, by key
  json::Value log;                          // a part of each line
  json::Value timers;                       // all waiting ones: callback, reference, due, context
  json::Value failures;                     // a part of the message of each failed event
  json::Value statistics;                   // counts, by group and name
  std::optional<std::string> refused;       // a part of the error of the deployment
  std::vector<db::KeyspaceName> keyspaces;  // those of `documents`, in its order
};
using Step = std::variant<Put, Delete, Advance, Expectations>;

// A request that the function must make once, and its answer.
struct Exchange {
  std::string method;
  std::string url;
  json::Value headers;  // the headers that the request must have, or missing
  json::Value body;     // text, or the value of a JSON body, or missing
  int status = 200;
  std::vector<std::pair<std::string, std::string>> response_headers;
  json::Value response_body;  // as `body`
  std::string error;          // if not empty, the request fails with it
};

struct Trial {
  std::string about;
  std::string function;
  uint64_t now_ms = 0;
  std::vector<Put> documents;
  std::vector<db::KeyspaceName> keyspaces;  // all keyspaces that the file names
  std::vector<Exchange> http;
  std::vector<Step> steps;
  Expectations expect;
};

// The latest time of a trial, 2500-01-01, which still fits into nanoseconds.
inline constexpr uint64_t kLastMs = 16'725'225'600'000;

// Errors: json.invalid, and trial.invalid, which names the place in the file: steps[2].put.
Result<Trial> ParseTrial(std::string_view text);

// Translate to and from 2026-01-01T00:00:00.000Z. MomentOf returns nothing for any other value.
std::string PrintMoment(uint64_t unix_ms);
std::optional<uint64_t> MomentOf(const json::Value& value);

}  // namespace sluice::function::trial
