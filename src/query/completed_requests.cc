#include "query/completed_requests.h"

#include <utility>

#include "base/mutex.h"

namespace sluice::query {
namespace {

// Cuts at the start of a character.
void Shorten(std::string* text, size_t most) {
  if (text->size() <= most) return;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) --end;
  text->resize(end);
  text->append("...");
  text->shrink_to_fit();
}

}  // namespace

json::Value CompletedRequest::Describe() const {
  using json::Value;
  Value row = Value::Object({{"requestId", Value(id)},
                             {"statement", Value(statement)},
                             {"users", Value(user)},
                             {"requestTime", Value::Unsigned(started_ms)},
                             {"elapsedTime", Value(elapsed)},
                             {"serviceTime", Value(service)},
                             {"resultCount", Value::Unsigned(rows)},
                             {"resultSize", Value::Unsigned(bytes)},
                             {"errorCount", Value::Unsigned(errors)},
                             {"state", Value(state)}});
  if (mutations > 0) row.Set("mutations", Value::Unsigned(mutations));
  if (!first_error.empty()) row.Set("error", Value(first_error));
  if (!client_context_id.empty()) row.Set("clientContextID", Value(client_context_id));
  return row;
}

void CompletedRequests::Add(CompletedRequest request) {
  Shorten(&request.statement, kMostStatementBytes);
  Shorten(&request.first_error, kMostStatementBytes);
  const MutexLock lock(mutex_);
  if (requests_.size() >= kMostRequests) requests_.pop_front();
  requests_.push_back(std::move(request));
}

bool CompletedRequests::Remove(const std::string& id) {
  const MutexLock lock(mutex_);
  return std::erase_if(requests_, [&](const auto& request) { return request.id == id; }) > 0;
}

std::vector<CompletedRequest> CompletedRequests::List() const {
  const MutexLock lock(mutex_);
  return {requests_.begin(), requests_.end()};
}

}  // namespace sluice::query
