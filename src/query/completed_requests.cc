#include "query/completed_requests.h"

#include <utility>

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
  const auto requests = requests_.Lock();
  if (requests->size() >= kMostRequests) requests->pop_front();
  requests->push_back(std::move(request));
}

bool CompletedRequests::Remove(const std::string& id) {
  const auto requests = requests_.Lock();
  return std::erase_if(*requests, [&](const auto& request) { return request.id == id; }) > 0;
}

std::vector<CompletedRequest> CompletedRequests::List() const {
  const auto requests = requests_.Lock();
  return {requests->begin(), requests->end()};
}

}  // namespace sluice::query
