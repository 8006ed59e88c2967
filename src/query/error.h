// Errors and warnings of queries: Couchbase's numbers, on our Status. The id is the one in
// docs/errors; the number is in the field "code".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/status.h"
#include "query/parse/ast.h"

namespace sluice::query {

// docs/errors/README.md has a line for each.
enum class QueryCode : uint16_t {
  kReadOnly = 1000,
  kMissingStatement = 1050,
  kUnknownParameter = 1065,
  kBadParameter = 1070,
  kTimeout = 1080,
  kCancelled = 1190,
  kTooManyRequests = 1191,
  kSyntax = 3000,
  kAmbiguousReference = 3080,
  kNoSuchField = 3081,
  kDuplicateResultAlias = 3083,
  kPlan = 4000,
  kMissingAlias = 4010,
  kDuplicateAlias = 4020,
  kDuplicateWithAlias = 4021,
  kNoSuchPrepared = 4040,
  kBadEncodedPlan = 4070,
  kPreparedMismatch = 4080,
  kPreparedExists = 4090,
  kNotGrouped = 4210,
  kIndexExists = 4300,
  kMetaNeedsArgument = 4310,
  kNonStringKey = 4998,
  kInternal = 5000,
  kBothArguments = 5003,
  kEvaluation = 5010,
  kAborted = 5011,
  kBadLimit = 5030,
  kRange = 5035,
  kDivideByZero = 5036,
  kTooLarge = 5037,
  kBadKey = 5070,
  kBadOptions = 5071,
  kMergeTwiceUpdate = 5320,
  kMergeTwiceInsert = 5330,
  kUnboundParameter = 5370,
  kMemoryQuota = 5500,
  kMissingKeys = 5503,
  kKeyspaceNotFound = 12003,
  kPrimaryIndexNotFound = 12004,
  kUnreadable = 12008,
  kDmlFailed = 12009,
  kIndexNotFound = 12016,
  kBucketNotFound = 12020,
  kScopeNotFound = 12021,
  kBucketExists = 12022,
  kScopeExists = 12025,
  kCollectionExists = 12027,
  kInvalidIndex = 12029,
  kNotDurable = 12031,
  kCasMismatch = 12033,
  kForbidden = 13014,
  kTransaction = 17001,
  kTransactionOrder = 17005,
  kCommitConflict = 17007,
  kTransactionNotFound = 17010,
  kDuplicateKey = 17012,
  kKeyNotFound = 17014,
  kTransactionTooLarge = 17016,
  // Tables: 19000 and the number that Comdb2's clients know.
  kForeignKey = 19003,
  kNotNull = 19004,
  kConversion = 19113,
  kTableDefinition = 19240,
  kTableExists = 19241,
  kDuplicateRow = 19299,
  kCheckConstraint = 19406,
};

Status MakeQueryError(QueryCode code, std::string message);

template <typename... Args>
Status QueryError(QueryCode code, fmt::format_string<Args...> format, Args&&... args) {
  return MakeQueryError(code, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
std::unexpected<Status> QueryFail(QueryCode code, fmt::format_string<Args...> format,
                                  Args&&... args) {
  return Unexpected(MakeQueryError(code, fmt::format(format, std::forward<Args>(args)...)));
}

// Adds the place, also to the message, as SQL++ does: "... (near line 1, column 8)".
Status AtPlace(const Status& status, const TextPlace& place);

// An error of a table, or of a commit's size, under its number; others as they are.
Status TableError(const Status& status);

// The number of an error; errors of other modules (a full disk, say) are 5000, but for those of a
// document that can't be read.
QueryCode CodeOf(const Status& status);

// The field of an error with the number of its cause, and that number.
inline constexpr std::string_view kCauseCode = "cause_code";
std::optional<QueryCode> CauseOf(const Status& status);

// The error of a failed write of a document, with one of the causes that clients distinguish.
Status WriteError(QueryCode cause, std::string_view why);

// The status code that an HTTP answer has when the error came before any result.
int HttpStatusOf(QueryCode code);

// Every error there is, by number.
struct QueryErrorInfo {
  QueryCode number;
  Code code;
  std::string_view id;
  int http;
};
std::span<const QueryErrorInfo> QueryErrors();

struct Warning {
  QueryCode code = QueryCode::kInternal;
  std::string message;

  bool operator==(const Warning&) const = default;
};

}  // namespace sluice::query
