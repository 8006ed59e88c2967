#include "query/active_requests.h"

#include <algorithm>
#include <utility>

#include "base/mutex.h"
#include "base/quantity.h"
#include "query/error.h"

namespace sluice::query {

json::Value ActiveRequest::Describe(uint64_t now_ms) const {
  json::Value row = json::Value::Object(
      {{"requestId", json::Value(id)},
       {"statement", json::Value(statement)},
       {"users", json::Value(user)},
       {"requestTime", json::Value::Unsigned(started_ms)},
       {"elapsedTime", json::Value(FormatDurationMs(now_ms - std::min(now_ms, started_ms)))},
       {"resultCount", json::Value::Unsigned(rows.load())},
       {"state", json::Value(cancelled->load() ? "cancelled" : "running")}});
  if (!client_context_id.empty()) row.Set("clientContextID", json::Value(client_context_id));
  return row;
}

Status ActiveRequests::Add(std::shared_ptr<ActiveRequest> request) {
  const MutexLock lock(mutex_);
  if (requests_.size() >= most_) {
    return QueryError(QueryCode::kTooManyRequests,
                      "{} statements are running, the most there may be; try again",
                      requests_.size());
  }
  std::string id = request->id;
  requests_.emplace(std::move(id), std::move(request));
  return OkStatus();
}

void ActiveRequests::Remove(const std::string& id) {
  const MutexLock lock(mutex_);
  requests_.erase(id);
}

std::shared_ptr<ActiveRequest> ActiveRequests::Find(const std::string& id) const {
  const MutexLock lock(mutex_);
  const auto found = requests_.find(id);
  return found == requests_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<ActiveRequest>> ActiveRequests::List() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<ActiveRequest>> list;
  list.reserve(requests_.size());
  for (const auto& [id, request] : requests_) list.push_back(request);
  return list;
}

size_t ActiveRequests::size() const {
  const MutexLock lock(mutex_);
  return requests_.size();
}

}  // namespace sluice::query
