// GET /v1/consumers, POST /v1/consumers/{name}/next
#include "http/rest/consumers.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "http/completion.h"
#include "http/rest/access.h"
#include "http/rest/body.h"
#include "http/worker_pool.h"
#include "query/result_text.h"

namespace sluice::http::rest {
namespace {

using json::Value;
using procedure::PollRequest;
using procedure::TriggerDefinition;
using procedure::TriggerEvent;
using Events = Result<std::vector<TriggerEvent>>;

constexpr uint64_t kMaxTimeoutMs = 300'000;
constexpr uint64_t kMaxLeaseMs = 3'600'000;
constexpr size_t kMaxClientName = 100;

// Whoever may read all that it hears of.
Status MayConsume(const Request& request, const ConsumerService& service,
                  const TriggerDefinition& definition) {
  const auto catalog = service.engine.database().catalog();
  for (const procedure::TriggerSource& source : definition.sources) {
    const db::KeyspaceInfo* const keyspace = catalog->Find(source.keyspace);
    if (keyspace == nullptr) continue;  // it is being dropped
    RETURN_IF_ERROR(Require(request, auth::Permission::kRead, keyspace->name.bucket));
  }
  return OkStatus();
}

Result<uint64_t> NumberIn(const Value& body, std::string_view name, uint64_t otherwise,
                          uint64_t most) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> number, IntField(body, name));
  if (!number) return otherwise;
  if (*number < 0 || static_cast<uint64_t>(*number) > most) {
    return BadField(name, fmt::format("a number from 0 to {}", most), body[name]);
  }
  return static_cast<uint64_t>(*number);
}

Result<PollRequest> ReadPoll(const Request& request) {
  PollRequest poll;
  poll.consumer = request.Param("name");
  ASSIGN_OR_RETURN(const Value body, ReadObject(request.body(), {"ack", "max", "timeout_ms",
                                                                 "client", "lease_ms", "release"}));
  ASSIGN_OR_RETURN(const std::optional<std::string> ack, StringField(body, "ack"));
  if (ack) {
    poll.acknowledged = procedure::PositionOfHexId(*ack);
    if (!poll.acknowledged) return BadField("ack", "the id of an event", body["ack"]);
  }
  ASSIGN_OR_RETURN(poll.max, NumberIn(body, "max", poll.max, procedure::kMaxPolled));
  ASSIGN_OR_RETURN(poll.timeout_ms, NumberIn(body, "timeout_ms", poll.timeout_ms, kMaxTimeoutMs));
  ASSIGN_OR_RETURN(poll.lease_ms, NumberIn(body, "lease_ms", poll.lease_ms, kMaxLeaseMs));
  ASSIGN_OR_RETURN(const std::optional<std::string> client, StringField(body, "client"));
  // Clients of different users are different ones.
  poll.client = fmt::format("{}/{}", SenderOf(request).user, client.value_or(""));
  if (client && client->size() > kMaxClientName) {
    return BadField("client", "a name of at most 100 bytes", body["client"]);
  }
  ASSIGN_OR_RETURN(const std::optional<bool> release, BoolField(body, "release"));
  poll.release = release.value_or(false);
  return poll;
}

// Columns as documents have them: bytes are hexadecimal digits.
Value RowView(const Value& row) {
  Value view = row;
  for (const json::Field& field : row.fields()) {
    if (field.value.is_bytes()) view.Set(field.name(), ToHex(field.value.AsBytes()));
  }
  return view;
}

Value EventView(const TriggerEvent& event) {
  Value view = Value::Object(
      {{"id", ToHex(event.id())}, {"name", event.name}, {"type", std::string(event.type)}});
  if (!event.key.empty()) view.Set("key", event.key);
  if (!event.inserted.is_missing()) view.Set("new", RowView(event.inserted));
  if (!event.deleted.is_missing()) view.Set("old", RowView(event.deleted));
  view.Set("tid", event.tid());
  view.Set("epoch", event.epoch());
  view.Set("sequence", event.sequence());
  return view;
}

Task<> AnswerPoll(ConsumerService& service, Request& request, Response& response) {
  Result<PollRequest> poll = ReadPoll(request);
  if (!poll) co_return response.Error(poll.error());
  const auto live = service.procedures.triggers().Find(poll->consumer);
  if (!live || !(*live)->definition()->consumer) {
    co_return response.Error(
        Error(Code::kNotFound, "consumer.not_found", "there is no consumer '{}'", poll->consumer));
  }
  const Status allowed = MayConsume(request, service, *(*live)->definition());
  if (!allowed.ok()) co_return response.Error(allowed);
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  poll->cancelled = cancelled;
  Completion<Events> done(request);
  const bool taken = service.threads.TryStart(
      [&service, done, poll = std::move(*poll)] { done.Complete(service.polls.Next(poll)); });
  if (!taken) co_return response.Error(OverloadedError());
  Result<Events> events = co_await done;
  if (!events) {
    cancelled->store(true);
    co_return response.Error(events.error());
  }
  if (!*events) co_return response.Error(events->error());
  Value list = Value::EmptyArray();
  for (const TriggerEvent& event : **events) list.Append(EventView(event));
  std::string text;
  query::AppendResult(Value::Object({{"events", std::move(list)}}), &text);
  response.Json(200, text + "\n");
}

Value ConsumerView(const ConsumerService& service, const Value& queue) {
  const std::string name(queue["spname"].AsString());
  Value view = Value::Object({{"name", name}});
  const auto live = service.procedures.triggers().Find(name);
  if (!live) return view;
  Value sources = Value::EmptyArray();
  for (const auto& source : (*live)->definition()->sources) sources.Append(Value(source.name));
  view.Set("sources", std::move(sources));
  const procedure::Seats::Occupancy occupancy = (*live)->seats().occupancy();
  view.Set("taken", occupancy.state != procedure::Seats::Occupancy::State::kFree);
  view.Set("state", procedure::StateName(occupancy.state));
  if (!occupancy.client.empty()) view.Set("owner", occupancy.client);
  view.Set("waiting_clients", Value::Unsigned(occupancy.waiting));
  view.Set("depth", queue["depth"]);
  view.Set("lag_s", queue["head_age"]);
  return view;
}

void List(ConsumerService& service, Request& request, Response& response) {
  Value list = Value::EmptyArray();
  for (const Value& queue : service.procedures.ListQueues()) {
    const auto live = service.procedures.triggers().Find(std::string(queue["spname"].AsString()));
    if (!live || !(*live)->definition()->consumer) continue;
    if (!MayConsume(request, service, *(*live)->definition()).ok()) continue;
    list.Append(ConsumerView(service, queue));
  }
  response.Json(200, AnswerText(Value::Object({{"consumers", std::move(list)}})));
}

constexpr std::string_view kPollSchema =
    R"({"type":"object","properties":{"ack":{"type":"string"},"max":{"type":"integer"},)"
    R"("timeout_ms":{"type":"integer"},"client":{"type":"string"},)"
    R"("lease_ms":{"type":"integer"},"release":{"type":"boolean"}}})";

Status AddNextRoute(Router& router, ConsumerService& service, std::string path) {
  return router.Add(
      {.method = Method::kPost,
       .path = std::move(path),
       .summary = "Acknowledge events of a consumer, and wait for the next ones",
       .tag = "consumers",
       .request = Content{.description = "the event to acknowledge, and how many to wait for",
                          .schema = Value(kPollSchema)},
       .responses = {{200, "events; none after the time limit", Content{}},
                     {404, "there is no such consumer"},
                     {409, "another client has it"}},
       .auth = std::string(kKnown),
       .handler = [&service](Request& request, Response& response) -> Task<> {
         return AnswerPoll(service, request, response);
       }});
}

}  // namespace

Status AddConsumerRoutes(Router& router, ConsumerService& service) {
  RETURN_IF_ERROR(
      router.Add({.path = "/v1/consumers",
                  .summary = "Consumers, their clients and their waiting events",
                  .tag = "consumers",
                  .responses = {{200, "the consumers whose sources the user may read", Content{}}},
                  .auth = std::string(kKnown),
                  .handler = Blocking([&service](Request& request, Response& response) {
                    List(service, request, response);
                  })}));
  for (const char* const path : {"/v1/consumers/{name}/next", "/consumers/{name}/next"}) {
    RETURN_IF_ERROR(AddNextRoute(router, service, path));
  }
  return OkStatus();
}

}  // namespace sluice::http::rest
