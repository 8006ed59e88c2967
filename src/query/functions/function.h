// Scalar functions: their interface and their registry. One file per family registers its functions
// in a table (string.cc, date.cc, ...); registry.cc lists the families.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "query/error.h"

namespace re2 {
class RE2;
}

namespace sluice::query {

using json::Value;

// The statement's context for a function. One thread.
class FunctionContext {
 public:
  virtual ~FunctionContext() = default;

  // The moment the statement began (NOW_MILLIS and friends are the same in all of it), and now.
  virtual int64_t statement_time_us() const = 0;
  virtual int64_t wall_time_us() const = 0;
  // The zone of dates that name none.
  virtual const std::string& time_zone() const = 0;
  virtual uint64_t Random() = 0;
  virtual const std::string& user() const = 0;
  // How NODE_NAME() calls this server.
  virtual std::string_view node_name() const { return "localhost"; }

  // Reports once per statement and text.
  virtual void Warn(QueryCode code, std::string message) = 0;
  // Ends the statement with this error; the function's result is then not looked at.
  virtual void Fail(Status status) = 0;
  // Called before making a value of about this size; false when the statement's memory limit
  // would be passed, which then fails the statement.
  virtual bool Allow(size_t bytes) = 0;
  // A function calls this for each `steps` of work beyond the size of its arguments and its result.
  // False if the statement must stop: its time is over, or somebody has cancelled it.
  virtual bool Spend(size_t steps) = 0;
  // The compiled pattern, kept for the statement; null (and Fail is called) when it is no regular
  // expression. `whole` anchors it at both ends.
  enum class Match : uint8_t { kAnywhere, kWhole };
  virtual const re2::RE2* Regex(std::string_view pattern, Match match) = 0;
};

using Args = std::span<const Value* const>;
using ScalarBody = Value (*)(FunctionContext& context, Args args);

// How MISSING and NULL arguments are handled before the body runs.
enum class Unknowns : uint8_t {
  kPropagate,  // any MISSING makes MISSING, else any NULL makes NULL; the body sees neither
  kSeen,       // the body decides
};

enum class Volatility : uint8_t {
  kPure,       // same arguments, same result: may be folded and used in indexes
  kStatement,  // the same within a statement (NOW_MILLIS)
  kVolatile,   // RANDOM, UUID, CLOCK_MILLIS
};

inline constexpr uint8_t kAnyNumber = 255;

struct ScalarFunction {
  std::string_view name;  // lower case
  uint8_t min_args;
  uint8_t max_args;
  ScalarBody body;
  Unknowns unknowns = Unknowns::kPropagate;
  Volatility volatility = Volatility::kPure;
};

// Another name of the same function.
struct FunctionAlias {
  std::string_view alias;
  std::string_view name;
};

struct FunctionFamily {
  std::span<const ScalarFunction> functions;
  std::span<const FunctionAlias> aliases;
};

// Null if no function has this name. The name is in lower case.
const ScalarFunction* FindFunction(std::string_view name);
// For "did you mean" and completion, sorted.
std::vector<std::string_view> FunctionNames();

// One per file of this directory.
FunctionFamily ArithmeticFunctions();
FunctionFamily ArrayFactFunctions();
FunctionFamily ArrayFunctions();
FunctionFamily BitFunctions();
FunctionFamily ComparisonFunctions();
FunctionFamily ConditionalFunctions();
FunctionFamily DateFunctions();
FunctionFamily EncodingFunctions();  // BASE64, CRC, hashes, URL, COMPRESS
FunctionFamily JsonFunctions();
FunctionFamily LikeFunctions();        // LIKE, LIKE_PREFIX, ...
FunctionFamily MetaFunctions();        // UUID, VERSION, CURRENT_USER, ABORT, ...
FunctionFamily NavigationFunctions();  // ELEMENT, SLICE, ...
FunctionFamily NumberFunctions();
FunctionFamily ObjectFunctions();
FunctionFamily ObjectNestedFunctions();  // OBJECT_PATHS, OBJECT_FILTER, ...
FunctionFamily PatternFunctions();
FunctionFamily StringBuildFunctions();  // CONCAT, LPAD, REPEAT, REPLACE, SPLIT, MASK
FunctionFamily RedactFunctions();
FunctionFamily StringFunctions();
FunctionFamily TableFunctions();  // NOW, PRINTF, GENERATE_SERIES, columns of tables
FunctionFamily TokenFunctions();
FunctionFamily TypeFunctions();
FunctionFamily VectorFunctions();

}  // namespace sluice::query
