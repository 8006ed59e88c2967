// The parameters of a request to /query/service: a form, a JSON object, or a URL's query.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/request.h"
#include "json/value.h"
#include "query/bind/binder.h"

namespace sluice::http::rest {

struct QueryParameters {
  enum class Profile : uint8_t { kOff, kPhases, kTimings };

  std::string statement;  // exactly one of the two is there
  std::string prepared;
  std::vector<json::Value> positional;
  std::map<std::string, json::Value> named;
  query::QueryContext context;
  std::optional<uint64_t> timeout_ms;
  bool read_only = false;
  bool pretty = false;
  bool metrics = true;
  bool signature = true;
  bool preserve_expiry = false;
  size_t max_parallelism = 0;  // 0: as many threads as there are
  Profile profile = Profile::kOff;
  bool cdb2_rows = false;         // rows as text, the way cdb2sql prints them
  std::string time_zone = "UTC";  // of their datetimes
  std::map<std::string, json::Value> procedure_versions;  // as in query::RunRequest
  std::string client_context_id;
  std::string txid;
  std::optional<uint64_t> transaction_timeout_ms;
};

// Errors 1050 without a statement, 1065 for a parameter that there is not, 1070 for a value that it
// can't have. What could be read before that is in `parameters`.
Status ReadQueryParameters(const Request& request, QueryParameters* parameters);
// The same for the members of a message on a stream (stream_message.h), whose own are passed over.
// A connection has one transaction, so 'txid' is refused.
Status ReadStreamParameters(const json::Value& message, QueryParameters* parameters);
// What SET changes for a connection's following statements. Errors as above.
Status ReadSessionParameter(std::string_view name, const std::string& value,
                            QueryParameters* parameters);

}  // namespace sluice::http::rest
