// Debuggers of functions: start, stop, where to find them, and the WebSocket through which a client
// speaks the DevTools protocol. That one asks for no password, because DevTools has none to give:
// its path is a secret of the user who asked for it (debugger_guests.h).
#include <algorithm>
#include <cctype>

#include "function/debug_session.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/debugger_guests.h"
#include "rest/eventing_routes.h"
#include "rest/route_auth.h"

namespace sluice::rest {
namespace {

using function::DebugSession;
using function::Definition;
using function::Manager;
using json::Value;

constexpr std::string_view kSocketPath = "/debugger/";
constexpr uint16_t kDebuggerViolation = 1008;
constexpr uint16_t kDebuggerBusy = 1013;

// The host and port that the client used, which are the ones that it can reach.
std::string HostOf(const Request& request) {
  const std::string host(request.FindHeader("Host").value_or(""));
  const bool sane = std::ranges::all_of(host, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
  return sane && !host.empty() ? host : "127.0.0.1";
}

std::string TokenOf(const EventingCall& call, const std::shared_ptr<DebugSession>& session) {
  return call.guests.TokenOf(session,
                             std::static_pointer_cast<const Sender>(call.request.principal()));
}

// Without its scheme.
std::string SocketAddress(const EventingCall& call, std::string_view token) {
  return fmt::format("{}{}{}{}", HostOf(call.request), call.listener.prefix, kSocketPath, token);
}

std::string SocketUrl(const EventingCall& call, std::string_view token) {
  return (call.listener.tls ? "wss://" : "ws://") + SocketAddress(call, token);
}

std::string DevToolsUrl(const EventingCall& call, std::string_view token) {
  return fmt::format(
      "devtools://devtools/bundled/inspector.html?experiments=true&v8only=true&{}={}",
      call.listener.tls ? "wss" : "ws", SocketAddress(call, token));
}

Value View(const EventingCall& call, const std::shared_ptr<DebugSession>& session) {
  const std::string token = TokenOf(call, session);
  return Value::Object({{"url", DevToolsUrl(call, token)},
                        {"websocket_url", SocketUrl(call, token)},
                        {"connected", session->inspector()->state().connected}});
}

// --- as Couchbase has them ---

void Start(EventingCall& call) {
  const auto definition = FindNamed(call, "name");
  if (!definition) return call.Refuse(definition.error());
  call.Done(call.manager.StartDebugger(definition->Location()), "Started debugger");
}

void Stop(EventingCall& call) {
  const auto definition = FindNamed(call, "name");
  if (!definition) return call.Refuse(definition.error());
  call.Done(call.manager.StopDebugger(definition->Location()), "Stopped debugger");
}

void ShowUrl(EventingCall& call) {
  const auto definition = FindNamed(call, "name");
  if (!definition) return call.Refuse(definition.error());
  const auto session = call.manager.DebuggerOf(definition->Location());
  if (!session) return call.Refuse(session.error());
  call.response.AddHeader("status", "0");
  call.response.Text(200, DevToolsUrl(call, TokenOf(call, *session)));
}

// --- ours ---

void ShowDebugger(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  const auto session = call.manager.DebuggerOf(definition->Location());
  if (!session) return call.Refuse(session.error());
  call.Answer(View(call, *session));
}

void StartDebugger(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  const Status started = call.manager.StartDebugger(definition->Location());
  if (!started.ok()) return call.Refuse(started);
  ShowDebugger(call);
}

void StopDebugger(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  call.Done(call.manager.StopDebugger(definition->Location()), "Stopped debugger");
}

// --- as programs with V8 in them have it, for tools that look there ---

void ListTargets(EventingCall& call) {
  Value targets = Value::EmptyArray();
  for (const Definition& definition : ListManaged(call)) {
    const auto session = call.manager.DebuggerOf(definition.Location());
    if (!session) continue;
    const std::string token = TokenOf(call, *session);
    targets.Append(Value::Object({{"id", token},
                                  {"type", "node"},
                                  {"title", "function " + definition.Location()},
                                  {"description", "an event of a function"},
                                  {"url", "function:///" + definition.name + ".js"},
                                  {"devtoolsFrontendUrl", DevToolsUrl(call, token)},
                                  {"webSocketDebuggerUrl", SocketUrl(call, token)}}));
  }
  call.Answer(targets);
}

void ShowProtocolVersion(EventingCall& call) {
  call.Answer(Value::Object({{"Browser", "Sluice"}, {"Protocol-Version", "1.1"}}));
}

// --- the socket ---

Task<> TalkToDebugger(std::shared_ptr<DebugSession> session, WebSocket& socket) {
  const std::shared_ptr<WebSocket::Sender> sender = socket.MakeSender();
  const uint64_t client =
      session->Connect({.send = [sender](std::string message) { sender->Send(std::move(message)); },
                        .let_go = [sender] { sender->Close(); }});
  if (client == 0) {
    socket.SetClose(kDebuggerBusy, "there is another client");
    co_return;
  }
  while (true) {
    Result<WebSocket::Message> message = co_await socket.Read();
    if (!message) break;
    if (message->binary || !session->Receive(client, std::move(message->data))) {
      socket.SetClose(kDebuggerViolation, "too much, or not text");
      break;
    }
  }
  session->Disconnect(client);
}

constexpr EventingRoute kDebuggerRoutes[] = {
    {Method::kPost, "/startDebugger", "Debug the events of a function, one at a time", Start,
     kKnown},
    {Method::kPost, "/startDebugger/", "The same", Start, kKnown},
    {Method::kGet, "/getDebuggerUrl", "The URL of a function's debugger", ShowUrl, kKnown},
    {Method::kGet, "/getDebuggerUrl/", "The same", ShowUrl, kKnown},
    {Method::kPost, "/getDebuggerUrl", "The same", ShowUrl, kKnown},
    {Method::kPost, "/getDebuggerUrl/", "The same", ShowUrl, kKnown},
    {Method::kPost, "/stopDebugger", "End a function's debugger", Stop, kKnown},
    {Method::kPost, "/stopDebugger/", "The same", Stop, kKnown},
    {Method::kGet, "/stopDebugger", "The same", Stop, kKnown},
    {Method::kGet, "/stopDebugger/", "The same", Stop, kKnown},
    {Method::kPost, "/api/v1/functions/{name}/debugger", "Start a function's debugger",
     StartDebugger, kKnown},
    {Method::kGet, "/api/v1/functions/{name}/debugger", "A function's debugger", ShowDebugger,
     kKnown},
    {Method::kDelete, "/api/v1/functions/{name}/debugger", "End a function's debugger",
     StopDebugger, kKnown},
    {Method::kGet, "/json", "Debuggers, as DevTools looks for them", ListTargets, kKnown},
    {Method::kGet, "/json/list", "The same", ListTargets, kKnown},
    {Method::kGet, "/json/version", "For DevTools", ShowProtocolVersion, kKnown},
};

}  // namespace

std::span<const EventingRoute> DebuggerRoutes() { return kDebuggerRoutes; }

Route DebuggerSocket(const EventingListener& listener, std::shared_ptr<DebuggerGuests> guests) {
  return {.path = fmt::format("{}{}{{token}}", listener.prefix, kSocketPath),
          .summary = "A debugger's client, by the DevTools protocol",
          .tag = "functions",
          // DevTools is a page of the browser's own; who comes must know the token.
          .auth = std::string(kPublicToPages),
          .websocket = [guests = std::move(guests), &rights = listener.rights](
                           Request& request, WebSocket& socket) -> Task<> {
            std::optional<DebuggerGuests::Guest> guest = guests->Find(request.Param("token"));
            // The connection looks at the sender's rights again and again from now on.
            if (guest) request.set_principal(guest->sender);
            if (guest && rights.Holds(request)) {
              co_await TalkToDebugger(std::move(guest->session), socket);
            } else {
              socket.SetClose(kDebuggerViolation, "there is no such debugger");
            }
          }};
}

}  // namespace sluice::rest
