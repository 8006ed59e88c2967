#include "http/sse.h"

#include <algorithm>

namespace sluice::http {
namespace {

void AppendField(std::string* out, std::string_view name, std::string_view value) {
  out->append(name);
  out->append(": ");
  for (const char c : value) out->push_back(c == '\n' || c == '\r' || c == '\0' ? ' ' : c);
  out->push_back('\n');
}

}  // namespace

EventStream::EventStream(Request& request, Response& response, uint64_t heartbeat_ms)
    : response_(response) {
  if (const auto header = request.FindHeader("Last-Event-ID")) {
    last_event_id_ = *header;
  } else if (const auto parameter = request.Query("last_event_id")) {
    last_event_id_ = *parameter;
  }
  response.set_status(200);
  response.set_content_type("text/event-stream");
  response.AddHeader("Cache-Control", "no-store");
  response.AddHeader("X-Accel-Buffering", "no");
  response.sink()->SetHeartbeat(heartbeat_ms, ":\n\n");
}

Response::WriteAwaiter EventStream::Send(const Event& event) {
  text_.clear();
  Append(event, &text_);
  return response_.Write(text_);
}

void EventStream::Append(const Event& event, std::string* out) {
  if (!event.id.empty()) AppendField(out, "id", event.id);
  if (!event.event.empty()) AppendField(out, "event", event.event);
  std::string_view data = event.data;
  while (true) {
    const size_t end = data.find('\n');
    AppendField(out, "data", data.substr(0, end));
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + 1);
  }
  out->push_back('\n');
}

}  // namespace sluice::http
