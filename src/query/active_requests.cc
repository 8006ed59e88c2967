#include "query/active_requests.h"

#include <algorithm>
#include <utility>

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
  std::string id = request->id;
  const auto requests = requests_.Lock();
  if (requests->size() >= most_) {
    return QueryError(QueryCode::kTooManyRequests,
                      "{} statements are running, the most there may be; try again",
                      requests->size());
  }
  requests->emplace(std::move(id), std::move(request));
  return OkStatus();
}

void ActiveRequests::Remove(const std::string& id) { requests_.Lock()->erase(id); }

std::shared_ptr<ActiveRequest> ActiveRequests::Find(const std::string& id) const {
  const auto requests = requests_.Lock();
  const auto found = requests->find(id);
  return found == requests->end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<ActiveRequest>> ActiveRequests::List() const {
  std::vector<std::shared_ptr<ActiveRequest>> list;
  const auto requests = requests_.Lock();
  list.reserve(requests->size());
  for (const auto& [id, request] : *requests) list.push_back(request);
  return list;
}

size_t ActiveRequests::size() const { return requests_.Lock()->size(); }

}  // namespace sluice::query
