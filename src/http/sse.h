// Server-sent events: a stream of text/event-stream that ends when its client leaves.
//
//   Task<> Feed(Request& request, Response& response) {
//     EventStream stream(request, response);
//     co_await stream.Open();
//     while ((co_await stream.Send({.id = id, .event = "change", .data = json})).ok()) { ... }
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response.h"

namespace sluice::http {

class EventStream {
 public:
  struct Event {
    std::string_view id = {};     // where a client resumes; not sent when empty
    std::string_view event = {};  // the type; "message" for clients when empty
    std::string_view data = {};   // any text; line breaks are kept
  };
  static constexpr uint64_t kHeartbeatMs = 15'000;

  // Sets the head. A comment is sent whenever nothing else has been for `heartbeat_ms`, so that
  // proxies keep the connection and a client that vanished is noticed.
  EventStream(Request& request, Response& response, uint64_t heartbeat_ms = kHeartbeatMs);

  // The id of the last event that the client has seen: the header Last-Event-ID, else the query
  // parameter last_event_id.
  const std::optional<std::string>& last_event_id() const { return last_event_id_; }

  // Sends the head, so that the client knows that it is connected before there is an event.
  Response::WriteAwaiter Open() { return response_.Write({}); }
  Response::WriteAwaiter Send(const Event& event);

  static void Append(const Event& event, std::string* out);

 private:
  Response& response_;
  std::optional<std::string> last_event_id_;
  std::string text_;
};

}  // namespace sluice::http
