// The statements that clients wait for: bounded in number, listed, cancelled by their id.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/locked.h"
#include "base/status.h"
#include "json/value.h"

namespace sluice::query {

struct ActiveRequest {
  std::string id;
  std::string client_context_id;
  std::string user;
  std::string statement;
  uint64_t started_ms = 0;  // Unix time
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  std::atomic<uint64_t> rows = 0;  // given so far

  ActiveRequest() = default;

  // A row of system:active_requests.
  json::Value Describe(uint64_t now_ms) const;
};

class ActiveRequests {
 public:
  explicit ActiveRequests(size_t most) : most_(most) {}

  // Error 1191 when as many run as may. It is listed until Remove.
  Status Add(std::shared_ptr<ActiveRequest> request);
  void Remove(const std::string& id);
  // Null if no statement has this id.
  std::shared_ptr<ActiveRequest> Find(const std::string& id) const;
  std::vector<std::shared_ptr<ActiveRequest>> List() const;
  size_t size() const;

 private:
  const size_t most_;
  Locked<std::map<std::string, std::shared_ptr<ActiveRequest>>> requests_;  // by id
};

}  // namespace sluice::query
