// One data mapping, compiled: `input.path_parameter.user -> user`. A mapping of three parts,
// `result -> model.x -> output.body`, is two of these.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "flow/expression.h"
#include "flow/path.h"
#include "json/value.h"

namespace sluice::flow {

enum class TargetSpace : uint8_t {
  kBody,       // a key of the function's input
  kWholeBody,  // `*`
  kHeaders,    // `header`
  kHeader,     // `header.key`
  kModel,
  kShared,
  kExternal,  // `ext:key`
  kOutputBody,
  kOutputHeaders,
  kOutputHeader,
  kOutputStatus,
  kDecision,
  kFile,
};

struct Target {
  TargetSpace space = TargetSpace::kBody;
  std::string text;  // as written
  Path path;
  Template content;  // the key of kExternal, kHeader and kOutputHeader, the path of kFile
  Files::Mode mode = Files::Mode::kReplace;
  std::shared_ptr<const Conversion> conversion;
  bool negated = false;  // `!model.x`, in the middle of three parts
};

struct Mapping {
  Expression from;
  Target to;
  std::string text;  // as written, for messages
};

// The mappings that one entry of a task's list makes. Errors: flow.bad_mapping and those of
// ParseExpression, flow.reserved_key.
Result<std::vector<Mapping>> ParseMapping(std::string_view text, const ParseContext& context);

// Whether `model.<key>` is the engine's own: cid, instance, flow, ttl, trace, none, run.
bool IsReservedKey(std::string_view key);

// The results of a task's mappings.
struct Mapped {
  struct External {
    std::string key;
    json::Value value;  // missing: to be removed
  };

  json::Value body = json::Value::EmptyObject();
  json::Value headers = json::Value::EmptyObject();  // of texts; of the call, or of the response
  json::Value output;                                // the response's body
  int status = 0;                                    // the response's; 0 for none
  json::Value decision;
  std::vector<External> externals;
};

// The places that mappings may write to.
struct Writable {
  json::Value* model = nullptr;
  json::Value* shared = nullptr;
  Mapped* mapped = nullptr;
};

// Runs mappings in order. `scope.view` must be of the same model as `to`. Errors abort the flow:
// flow.bad_argument, flow.bad_index, flow.too_deep, flow.reserved_key.
Status RunMappings(const std::vector<Mapping>& mappings, const Scope& scope, const Writable& to);

}  // namespace sluice::flow
