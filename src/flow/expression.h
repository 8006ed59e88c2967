// The left side of a data mapping, compiled: a place in a dataset, a constant, a file's content, a
// call of an `f:` function or a JSONPath search.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "flow/conversion.h"
#include "flow/files.h"
#include "flow/path.h"
#include "flow/settings.h"
#include "json/value.h"

namespace sluice::flow {

struct PluginCall;
struct Mapped;
class JsonPath;

// Input mappings run before a task's function, output mappings after it.
enum class Side : uint8_t { kInput, kOutput };

enum class Space : uint8_t {
  kInput,
  kModel,
  kShared,  // model.parent, model.root
  kError,
  kResult,
  kStatus,
  kHeader,
  kDatatype,
  kOutput,  // the answer so far, in an argument of f:
  kConstant,
  kText,  // text with {model.x} in it
  kMap,   // map(...) with {model.x} in it
  kFile,
  kResource,
  kCall,
  kJsonPath,
};

enum class FileForm : uint8_t { kText, kBinary, kJson };

struct Expression {
  Space space = Space::kConstant;
  std::string text;      // as written
  bool negated = false;  // !model.x
  Path path;
  json::Value constant;
  Template content;                                       // kText; the path of kFile, kResource
  std::vector<std::pair<std::string, Template>> entries;  // kMap
  FileForm form = FileForm::kBinary;
  std::shared_ptr<const Conversion> conversion;
  std::shared_ptr<const PluginCall> call;
  std::shared_ptr<const JsonPath> search;
  std::optional<ModelRef::Item> item;
};

// What the text of mappings may refer to, at compile time.
struct ParseContext {
  Side side = Side::kInput;
  const Settings* settings = nullptr;
  const Files* files = nullptr;
  int depth = 0;  // of calls in calls
};

// Errors: flow.bad_mapping, flow.bad_constant, flow.bad_type, flow.unknown_plugin,
// flow.file_outside.
Result<Expression> ParseExpression(std::string_view text, const ParseContext& context);
// The parts between top-level commas, for arguments.
std::vector<std::string_view> SplitArguments(std::string_view text);

// The data that an expression reads when it runs. A pointer is null if this side of a mapping has
// no such data.
struct Scope {
  ModelView view;
  const json::Value* input = nullptr;
  const json::Value* error = nullptr;
  const json::Value* result = nullptr;
  const json::Value* header = nullptr;
  int status = 200;
  const Mapped* mapped = nullptr;  // the results of the mappings before; null for none
  const Files* files = nullptr;
  uint64_t now_ms = 0;
  std::vector<std::string>* complaints = nullptr;  // for the log
};

// Missing when there is nothing. Errors abort the flow: flow.bad_argument.
Result<json::Value> Evaluate(const Expression& expression, const Scope& scope);

}  // namespace sluice::flow
