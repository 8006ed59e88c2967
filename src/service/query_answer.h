// What a statement answers, written piece by piece: head, rows, tail; an error before the head is
// an answer by itself. Each interface has its own form: stream_answer.h, rest/service_answer.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "query/cdb2_text.h"
#include "query/error.h"
#include "service/query_parameters.h"

namespace sluice::service {

// What is known at the end of a statement.
struct QueryOutcome {
  std::vector<Status> errors;  // what ended it first, then those of single documents
  bool ended_early = false;    // the first of the errors ended the statement
  std::vector<query::Warning> warnings;
  uint64_t elapsed_ns = 0;    // since the request came
  uint64_t execution_ns = 0;  // since the statement was begun
  uint64_t mutations = 0;
  uint64_t sorted = 0;
  size_t load = 0;  // statements that run
  json::Value profile;
  json::Value controls;
};

class QueryAnswer {
 public:
  QueryAnswer(std::string request_id, const QueryParameters& parameters);
  virtual ~QueryAnswer() = default;

  // Call it before the first row: the types in which Comdb2's rows show their columns.
  void SetColumnTypes(query::Cdb2Types types) { cdb2_types_ = std::move(types); }

  // Each appends to `out`.
  virtual void Head(const json::Value& signature, std::string* out) = 0;
  virtual void Row(const json::Value& row, std::string* out) = 0;
  virtual void Tail(const QueryOutcome& outcome, std::string* out) = 0;
  // The text before and after each part that is sent.
  virtual void Open(std::string*) {}
  virtual void Close(std::string*) {}

  // The name of the statement that the request has prepared and runs; before Head.
  void set_prepared(std::string name) { prepared_ = std::move(name); }

  const std::string& request_id() const { return request_id_; }
  bool has_head() const { return has_head_; }
  uint64_t rows() const { return rows_; }
  uint64_t row_bytes() const { return row_bytes_; }

 protected:
  json::Value Metrics(const QueryOutcome& outcome) const;

  const std::string request_id_;
  const bool metrics_;
  const bool signature_;
  const bool cdb2_rows_;
  const std::string time_zone_;
  query::Cdb2Types cdb2_types_;
  std::string prepared_;
  bool has_head_ = false;
  uint64_t rows_ = 0;
  uint64_t row_bytes_ = 0;
};

// As lists of JSON objects.
json::Value ErrorsView(const std::vector<Status>& errors);
json::Value WarningsView(const std::vector<query::Warning>& warnings);

// What "status" says of a statement; `has_head`: it came to run.
std::string_view QueryStatusText(const QueryOutcome& outcome, bool has_head);

// As Go writes durations, which is what clients parse: "1.5ms", "12.034µs", "1m2.5s".
std::string GoDuration(uint64_t ns);

}  // namespace sluice::service
