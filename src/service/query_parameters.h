// What a client says about a statement besides its text, by the names that Couchbase gave it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "query/bind/binder.h"

namespace sluice::service {

struct QueryParameters {
  enum class Profile : uint8_t { kOff, kPhases, kTimings };

  std::string statement;  // exactly one of the two is there
  std::string prepared;
  std::string encoded_plan;   // what PREPARE said of `prepared`: used when its name is not known
  bool auto_execute = false;  // PREPARE also runs what it prepares
  std::vector<json::Value> positional;
  std::map<std::string, json::Value> named;
  query::QueryContext context;
  std::optional<uint64_t> timeout_ms;
  bool read_only = false;
  bool pretty = false;
  bool metrics = true;
  bool signature = true;
  bool preserve_expiry = false;
  bool sort_projection = false;   // fields of rows by name
  bool controls = false;          // the answer says what the request asked for
  uint32_t memory_quota_mib = 0;  // at most what the server allows; 0: that
  std::string scan_consistency = "not_bounded";
  bool needs_disk = false;     // durability_level: acknowledged only when on disk
  size_t max_parallelism = 0;  // 0: as many threads as there are
  Profile profile = Profile::kOff;
  bool cdb2_rows = false;         // rows as text, the way cdb2sql prints them
  std::string time_zone = "UTC";  // of their datetimes
  std::map<std::string, json::Value> procedure_versions;  // as in query::RunRequest
  std::string client_context_id;
  std::string txid;
  bool implicit_transaction = false;  // the statement is one by itself
  std::optional<uint64_t> transaction_timeout_ms;
  std::optional<int64_t> transaction_statement;  // its number: each is larger than the last
  std::optional<json::Value> transaction_data;   // of a transaction that a client library has begun
};

// A value is JSON, the text of a form (JSON as its text; an empty one is none), or the text of SET.
enum class ParameterForm : uint8_t { kJson, kForm, kSet };

// Errors 1065 for a parameter that there is not, 1070 for a value that it can't have.
Status ReadQueryParameter(std::string_view name, const json::Value& value, ParameterForm form,
                          QueryParameters* parameters);
// Error 1050 unless there is a statement, 1070 if there are two.
Status CheckStatement(const QueryParameters& parameters);
// Both for the members of a message on a stream (stream_message.h), whose own are passed over.
// A connection has one transaction, so 'txid' is refused.
Status ReadStreamParameters(const json::Value& message, QueryParameters* parameters);
// The parameters there are, for OpenAPI: with their types in JSON schema, empty for any.
std::vector<std::pair<std::string_view, std::string_view>> QueryParameterTypes();
// What SET changes for a connection's following statements. Errors as above.
Status ReadSessionParameter(std::string_view name, const std::string& value,
                            QueryParameters* parameters);

}  // namespace sluice::service
