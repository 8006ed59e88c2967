// GET /query/stream: a WebSocket for statements whose rows are sent as the client asks for them.
#include <memory>
#include <string>
#include <utility>

#include "rest/access.h"
#include "rest/query_routes.h"
#include "service/stream_session.h"

namespace sluice::rest {
namespace {

using service::QueryService;
using service::StreamSession;

class SocketOutlet final : public service::StreamOutlet {
 public:
  explicit SocketOutlet(std::shared_ptr<WebSocket::Sender> sender) : sender_(std::move(sender)) {}
  void Send(std::string text) override { sender_->Send(std::move(text)); }

 private:
  const std::shared_ptr<WebSocket::Sender> sender_;
};

constexpr uint16_t kStreamViolation = 1008;
constexpr uint16_t kStreamBusy = 1013;
constexpr size_t kMaxMessageBytes = 32 << 20;

Task<> TalkToStream(QueryService& service, Request& request, WebSocket& socket) {
  const auto session = std::make_shared<StreamSession>(
      service, SharedSenderOf(request), std::make_shared<SocketOutlet>(socket.MakeSender()));
  if (!service.streams.TryStart([session] { session->Main(); })) {
    socket.SetClose(kStreamBusy, "too many streams are open");
    co_return;
  }
  struct Ender {
    ~Ender() { session->End(); }
    StreamSession* session;
  } const ender{session.get()};
  while (true) {
    const Result<WebSocket::Message> message = co_await socket.Read();
    if (!message) break;
    const Status received = message->binary ? Error(Code::kInvalidArgument, "stream.bad_message",
                                                    "a message of a stream is text")
                                            : session->Receive(message->data);
    if (received.ok()) continue;
    socket.SetClose(kStreamViolation, received.id() + ": " + received.message());
    break;
  }
}

}  // namespace

Status AddQueryStreamRoute(Router& router, service::QueryService& service) {
  return router.Add(
      {.path = "/query/stream",
       .summary = "A WebSocket for SQL++ statements, row by row as they are asked for",
       .tag = "query",
       .description = "docs/reference/stream.md has the messages.",
       .responses = {{101, "the WebSocket"}, {426, "the request is not an upgrade"}},
       .auth = std::string(kKnown),
       .websocket = [&service](Request& request, WebSocket& socket) -> Task<> {
         return TalkToStream(service, request, socket);
       },
       .max_message_bytes = kMaxMessageBytes});
}

}  // namespace sluice::rest
