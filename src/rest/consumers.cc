// GET /v1/consumers, POST /v1/consumers/{name}/next
#include "rest/consumers.h"

#include <utility>

#include "base/bytes.h"
#include "query/result_text.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

using json::Value;
using procedure::PollRequest;
using procedure::TriggerEvent;
using service::Consumers;

constexpr uint64_t kMaxTimeoutMs = 300'000;
constexpr uint64_t kMaxLeaseMs = 3'600'000;
constexpr size_t kMaxClientName = 100;

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
    poll.acknowledged = procedure::PlaceOfHexId(*ack);
    if (!poll.acknowledged) return BadField("ack", "the id of an event", body["ack"]);
  }
  ASSIGN_OR_RETURN(poll.max, NumberIn(body, "max", poll.max, procedure::kMaxPolled));
  ASSIGN_OR_RETURN(poll.timeout_ms, NumberIn(body, "timeout_ms", poll.timeout_ms, kMaxTimeoutMs));
  ASSIGN_OR_RETURN(poll.lease_ms, NumberIn(body, "lease_ms", poll.lease_ms, kMaxLeaseMs));
  ASSIGN_OR_RETURN(const std::optional<std::string> client, StringField(body, "client"));
  poll.client = client.value_or("");
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
  if (event.HasShard()) view.Set("shard", event.shard);
  view.Set("tid", event.tid());
  view.Set("epoch", event.epoch());
  view.Set("sequence", event.sequence());
  return view;
}

Task<> AnswerPoll(Consumers& consumers, Request& request, Response& response) {
  Result<PollRequest> poll = ReadPoll(request);
  if (!poll) co_return response.Error(poll.error());
  const Result<Consumers::Events> events =
      co_await consumers.Next(SenderOf(request), request.exchange(), std::move(*poll));
  if (!events) co_return response.Error(events.error());
  Value list = Value::EmptyArray();
  for (const TriggerEvent& event : *events) list.Append(EventView(event));
  std::string text;
  query::AppendResult(Value::Object({{"events", std::move(list)}}), &text);
  response.Json(200, text + "\n");
}

Value ConsumerView(const Consumers::Info& consumer) {
  const procedure::Seats::Occupancy& occupancy = consumer.occupancy;
  Value view =
      Value::Object({{"name", consumer.name},
                     {"sources", StringList(consumer.sources)},
                     {"taken", occupancy.state != procedure::Seats::Occupancy::State::kFree},
                     {"state", procedure::StateName(occupancy.state)}});
  if (!occupancy.client.empty()) view.Set("owner", occupancy.client);
  view.Set("waiting_clients", Value::Unsigned(occupancy.waiting));
  view.Set("depth", consumer.depth);
  view.Set("lag_s", consumer.lag_s);
  return view;
}

void ListConsumers(const Consumers& consumers, const Request& request, Response& response) {
  Value list = Value::EmptyArray();
  for (const Consumers::Info& consumer : consumers.List(SenderOf(request))) {
    list.Append(ConsumerView(consumer));
  }
  response.Json(200, AnswerText(Value::Object({{"consumers", std::move(list)}})));
}

constexpr std::string_view kPollSchema =
    R"({"type":"object","properties":{"ack":{"type":"string"},"max":{"type":"integer"},)"
    R"("timeout_ms":{"type":"integer"},"client":{"type":"string"},)"
    R"("lease_ms":{"type":"integer"},"release":{"type":"boolean"}}})";

Status AddNextRoute(Router& router, Consumers& consumers, std::string path) {
  return router.Add({.method = Method::kPost,
                     .path = std::move(path),
                     .summary = "Acknowledge events of a consumer, and wait for the next ones",
                     .tag = "consumers",
                     .request = Content{.description = "what was handled, and what is wanted",
                                        .schema = Value(kPollSchema)},
                     .responses = {{200, "events; none when the time was over", Content{}},
                                   {404, "there is no such consumer"},
                                   {409, "another client has it"}},
                     .auth = std::string(kKnown),
                     .handler = [&consumers](Request& request, Response& response) -> Task<> {
                       return AnswerPoll(consumers, request, response);
                     }});
}

}  // namespace

Status AddConsumerRoutes(Router& router, service::Consumers& consumers) {
  RETURN_IF_ERROR(
      router.Add({.path = "/v1/consumers",
                  .summary = "Consumers, their clients and their waiting events",
                  .tag = "consumers",
                  .responses = {{200, "the consumers whose sources the user may read", Content{}}},
                  .auth = std::string(kKnown),
                  .handler = Blocking([&consumers](Request& request, Response& response) {
                    ListConsumers(consumers, request, response);
                  })}));
  for (const char* const path : {"/v1/consumers/{name}/next", "/consumers/{name}/next"}) {
    RETURN_IF_ERROR(AddNextRoute(router, consumers, path));
  }
  return OkStatus();
}

}  // namespace sluice::rest
