// Statements that took long or failed, the last ones of them: system:completed_requests.
//
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/locked.h"
#include "json/value.h"

namespace sluice::query {

struct CompletedRequest {
  std::string id;
  std::string client_context_id;
  std::string user;
  std::string statement;
  uint64_t started_ms = 0;  // Unix time
  std::string elapsed;      // since the request came
  std::string service;      // since the statement was begun
  uint64_t rows = 0;
  uint64_t bytes = 0;  // of the rows
  uint64_t mutations = 0;
  uint64_t errors = 0;
  std::string first_error;
  std::string state;  // as the answer's "status"

  // A row of system:completed_requests.
  json::Value Describe() const;
};

class CompletedRequests {
 public:
  static constexpr size_t kMostRequests = 4000;
  static constexpr size_t kMostStatementBytes = 4 << 10;  // of each: the rest is cut off

  // A statement that took less than the threshold and had no errors is not kept.
  explicit CompletedRequests(uint64_t threshold_ms) : threshold_ms_(threshold_ms) {}

  uint64_t threshold_ms() const { return threshold_ms_; }
  void Add(CompletedRequest request);
  // Whether it was there.
  bool Remove(const std::string& id);
  // The oldest first.
  std::vector<CompletedRequest> List() const;

 private:
  const uint64_t threshold_ms_;
  Locked<std::deque<CompletedRequest>> requests_;
};

}  // namespace sluice::query
