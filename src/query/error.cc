#include "query/error.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/check.h"

namespace sluice::query {
namespace {

// Sorted by number.
constexpr QueryErrorInfo kEntries[] = {
    {QueryCode::kReadOnly, Code::kForbidden, "query.read_only", 403},
    {QueryCode::kMissingStatement, Code::kInvalidArgument, "query.no_statement", 400},
    {QueryCode::kUnknownParameter, Code::kInvalidArgument, "query.unknown_parameter", 400},
    {QueryCode::kBadParameter, Code::kInvalidArgument, "query.bad_parameter", 400},
    {QueryCode::kTimeout, Code::kTimeout, "query.timeout", 200},
    {QueryCode::kCancelled, Code::kCancelled, "query.cancelled", 200},
    {QueryCode::kTooManyRequests, Code::kOverloaded, "query.too_many", 503},
    {QueryCode::kSyntax, Code::kInvalidArgument, "query.syntax", 400},
    {QueryCode::kAmbiguousReference, Code::kInvalidArgument, "query.ambiguous_name", 400},
    {QueryCode::kNoSuchField, Code::kInvalidArgument, "query.unknown_name", 400},
    {QueryCode::kDuplicateResultAlias, Code::kInvalidArgument, "query.duplicate_result", 400},
    {QueryCode::kPlan, Code::kInvalidArgument, "query.plan", 400},
    {QueryCode::kMissingAlias, Code::kInvalidArgument, "query.no_alias", 400},
    {QueryCode::kDuplicateAlias, Code::kInvalidArgument, "query.duplicate_alias", 400},
    {QueryCode::kDuplicateWithAlias, Code::kInvalidArgument, "query.duplicate_with", 400},
    {QueryCode::kNoSuchPrepared, Code::kNotFound, "query.no_such_prepared", 404},
    {QueryCode::kBadEncodedPlan, Code::kInvalidArgument, "query.bad_encoded_plan", 400},
    {QueryCode::kPreparedMismatch, Code::kInvalidArgument, "query.prepared_mismatch", 400},
    {QueryCode::kPreparedExists, Code::kAlreadyExists, "query.prepared_exists", 409},
    {QueryCode::kNotGrouped, Code::kInvalidArgument, "query.not_grouped", 400},
    {QueryCode::kIndexExists, Code::kAlreadyExists, "query.index_exists", 409},
    {QueryCode::kMetaNeedsArgument, Code::kInvalidArgument, "query.meta_argument", 400},
    {QueryCode::kNonStringKey, Code::kInvalidArgument, "query.non_string_key", 200},
    {QueryCode::kInternal, Code::kInternal, "query.failed", 500},
    {QueryCode::kBothArguments, Code::kInvalidArgument, "query.both_arguments", 400},
    {QueryCode::kEvaluation, Code::kInvalidArgument, "query.evaluation", 200},
    {QueryCode::kAborted, Code::kInvalidArgument, "query.aborted", 200},
    {QueryCode::kBadLimit, Code::kInvalidArgument, "query.bad_limit", 400},
    {QueryCode::kRange, Code::kInvalidArgument, "query.range", 200},
    {QueryCode::kDivideByZero, Code::kInvalidArgument, "query.divide_by_zero", 200},
    {QueryCode::kTooLarge, Code::kTooLarge, "query.too_large", 200},
    {QueryCode::kBadKey, Code::kInvalidArgument, "query.bad_key", 200},
    {QueryCode::kBadOptions, Code::kInvalidArgument, "query.bad_options", 200},
    {QueryCode::kMergeTwiceUpdate, Code::kConflict, "query.merge_twice_update", 200},
    {QueryCode::kMergeTwiceInsert, Code::kConflict, "query.merge_twice_insert", 200},
    {QueryCode::kUnboundParameter, Code::kInvalidArgument, "query.unbound_parameter", 422},
    {QueryCode::kMemoryQuota, Code::kTooLarge, "query.memory", 200},
    {QueryCode::kMissingKeys, Code::kNotFound, "query.missing_keys", 200},
    {QueryCode::kKeyspaceNotFound, Code::kNotFound, "query.keyspace_not_found", 424},
    {QueryCode::kPrimaryIndexNotFound, Code::kNotFound, "query.primary_index_not_found", 404},
    {QueryCode::kUnreadable, Code::kInvalidArgument, "query.unreadable", 200},
    {QueryCode::kDmlFailed, Code::kConflict, "query.write_failed", 200},
    {QueryCode::kIndexNotFound, Code::kNotFound, "query.index_not_found", 404},
    {QueryCode::kBucketNotFound, Code::kNotFound, "query.bucket_not_found", 424},
    {QueryCode::kScopeNotFound, Code::kNotFound, "query.scope_not_found", 424},
    {QueryCode::kBucketExists, Code::kAlreadyExists, "query.bucket_exists", 409},
    {QueryCode::kScopeExists, Code::kAlreadyExists, "query.scope_exists", 409},
    {QueryCode::kCollectionExists, Code::kAlreadyExists, "query.collection_exists", 409},
    {QueryCode::kInvalidIndex, Code::kInvalidArgument, "query.bad_index", 400},
    {QueryCode::kNotDurable, Code::kUnsupported, "query.not_durable", 400},
    {QueryCode::kCasMismatch, Code::kConflict, "query.changed_meanwhile", 200},
    {QueryCode::kForbidden, Code::kForbidden, "query.forbidden", 401},
    {QueryCode::kTransaction, Code::kInvalidArgument, "query.transaction", 400},
    {QueryCode::kTransactionOrder, Code::kInvalidArgument, "query.transaction_order", 400},
    {QueryCode::kCommitConflict, Code::kConflict, "query.commit_conflict", 409},
    {QueryCode::kTransactionNotFound, Code::kNotFound, "query.no_such_transaction", 404},
    {QueryCode::kDuplicateKey, Code::kAlreadyExists, "query.duplicate_key", 409},
    {QueryCode::kKeyNotFound, Code::kNotFound, "query.key_not_found", 404},
    {QueryCode::kTransactionTooLarge, Code::kTooLarge, "query.transaction_too_large", 413},
    {QueryCode::kForeignKey, Code::kConflict, "query.foreign_key", 200},
    {QueryCode::kNotNull, Code::kInvalidArgument, "query.not_null", 200},
    {QueryCode::kConversion, Code::kInvalidArgument, "query.conversion", 200},
    {QueryCode::kTableDefinition, Code::kInvalidArgument, "query.table_definition", 400},
    {QueryCode::kTableExists, Code::kAlreadyExists, "query.table_exists", 409},
    {QueryCode::kDuplicateRow, Code::kAlreadyExists, "query.duplicate_row", 200},
    {QueryCode::kCheckConstraint, Code::kInvalidArgument, "query.check_constraint", 200},
};

const QueryErrorInfo& EntryOf(QueryCode code) {
  const auto* entry = std::ranges::lower_bound(kEntries, code, {}, &QueryErrorInfo::number);
  CHECK(entry != std::end(kEntries) && entry->number == code);
  return *entry;
}

}  // namespace

Status MakeQueryError(QueryCode code, std::string message) {
  const QueryErrorInfo& entry = EntryOf(code);
  return Status(entry.code, entry.id, std::move(message))
      .With("code", fmt::format("{}", static_cast<int>(code)));
}

Status AtPlace(const Status& status, const TextPlace& place) {
  if (status.ok() || status.place().line != 0 || place.line == 0) return status;
  Status placed(
      status.code(), status.id(),
      fmt::format("{} (near line {}, column {})", status.message(), place.line, place.column));
  for (const auto& [key, value] : status.fields()) placed = placed.With(key, value);
  return placed.At({.file = "", .line = place.line, .column = place.column});
}

Status TableError(const Status& status) {
  const std::string& id = status.id();
  if (id == "commit.too_large") {
    return MakeQueryError(QueryCode::kTransactionTooLarge, status.message());
  }
  if (id == "table.not_null") return MakeQueryError(QueryCode::kNotNull, status.message());
  if (id == "table.duplicate") return MakeQueryError(QueryCode::kDuplicateRow, status.message());
  if (id == "table.conversion" || id == "table.out_of_range" || id == "table.too_long") {
    return MakeQueryError(QueryCode::kConversion, status.message());
  }
  if (id == "bucket.exists") return MakeQueryError(QueryCode::kBucketExists, status.message());
  if (id == "table.exists") return MakeQueryError(QueryCode::kTableExists, status.message());
  if (id == "table.not_found") {
    return MakeQueryError(QueryCode::kKeyspaceNotFound, status.message());
  }
  if (id == "table.invalid" || id == "table.referenced" || id == "keyspace.invalid_name") {
    return MakeQueryError(QueryCode::kTableDefinition, status.message());
  }
  return status;
}

namespace {

QueryCode ParseCode(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return static_cast<QueryCode>(number);
}

}  // namespace

QueryCode CodeOf(const Status& status) {
  const auto field = status.fields().find("code");
  if (field != status.fields().end()) return ParseCode(field->second);
  return status.id().starts_with("migration.") ? QueryCode::kUnreadable : QueryCode::kInternal;
}

std::optional<QueryCode> CauseOf(const Status& status) {
  const auto field = status.fields().find(std::string(kCauseCode));
  if (field == status.fields().end()) return std::nullopt;
  return ParseCode(field->second);
}

Status WriteError(QueryCode cause, std::string_view why) {
  return QueryError(QueryCode::kDmlFailed, "DML Error: {}", why)
      .With(std::string(kCauseCode), fmt::format("{}", static_cast<int>(cause)))
      .With("message", std::string(why));
}

std::span<const QueryErrorInfo> QueryErrors() { return kEntries; }

int HttpStatusOf(QueryCode code) { return EntryOf(code).http; }

}  // namespace sluice::query
