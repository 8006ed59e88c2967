// The answer of /query/service.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"
#include "service/query_answer.h"

namespace sluice::rest {

// In the order that clients of Couchbase expect:
//
//   {"requestID", "clientContextID"?, "prepared"?, "signature"?, "results", "errors"?, "warnings"?,
//    "status", "metrics"?, "controls"?, "profile"?}
class ServiceAnswer final : public service::QueryAnswer {
 public:
  ServiceAnswer(std::string request_id, const service::QueryParameters& parameters);

  void Head(const json::Value& signature, std::string* out) override;
  void Row(const json::Value& row, std::string* out) override;
  void Tail(const service::QueryOutcome& outcome, std::string* out) override;

 private:
  void Begin(std::string* out);
  void Member(std::string_view name, const json::Value& value, std::string* out) const;
  void Append(const json::Value& value, int level, std::string* out) const;
  void Separate(std::string* out) const;

  const std::string client_context_id_;
  const int indent_;
  bool begun_ = false;
};

// The HTTP status of an answer that begins with this error; ok: 200.
int QueryHttpStatus(const Status& error);

}  // namespace sluice::rest
