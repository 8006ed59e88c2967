// The answer of a statement on a stream: messages, each a JSON object.
//
//   {"id", "requestID"?, "signature"?, "rows"?: [...], "done"?: {"status", "errors"?, "warnings"?,
//    "metrics"?, "profile"?}}
//
// The first has the head, each has rows, the last is done.
#pragma once

#include <string>

#include "service/query_answer.h"

namespace sluice::service {

class StreamAnswer final : public QueryAnswer {
 public:
  // `id`: what the client calls the statement, as JSON text.
  StreamAnswer(std::string id, std::string request_id, const QueryParameters& parameters);

  void Head(const json::Value& signature, std::string* out) override;
  void Row(const json::Value& row, std::string* out) override;
  void Tail(const QueryOutcome& outcome, std::string* out) override;
  void Open(std::string* out) override;
  void Close(std::string* out) override;

 private:
  void EndRows(std::string* out);

  const std::string id_;
  bool in_rows_ = false;
};

}  // namespace sluice::service
