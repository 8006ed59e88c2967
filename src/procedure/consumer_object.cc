#include "procedure/consumer_object.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "procedure/arguments.h"
#include "procedure/db_object.h"
#include "procedure/forwarder.h"
#include "procedure/trigger/triggers.h"

namespace sluice::procedure {
namespace {

using lua::Call;
using lua::HostObject;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kEmitTimeoutMs = 60'000;
constexpr std::chrono::milliseconds kConsumerLook(100);
constexpr int64_t kNothingToConsume = -1;

Consumption& SelfConsumption(HostObject& object) {
  return static_cast<ConsumerObject&>(object).consumption();
}

Result<uint64_t> Milliseconds(const Value& value, std::string_view method) {
  if (value.is_number() && value.ToDouble() >= 0) return static_cast<uint64_t>(value.ToDouble());
  return Unexpected(BadArgument(method, "a number of milliseconds"));
}

// Whoever waits for a client or an event is ended by nothing but this.
Status CheckNotGone(const Consumption& self, const Call& call) {
  if (!call.stopped() && !self.session.client->gone()) return OkStatus();
  return Error(Code::kCancelled, "procedure.client_gone",
               "the client has gone, or has cancelled the request");
}

// The next event, or null when there is none by the deadline.
Result<const TriggerEvent*> AwaitEvent(Consumption& self, const Call& call,
                                       LiveQueue::Deadline deadline) {
  while (true) {
    RETURN_IF_ERROR(CheckNotGone(self, call));
    const uint64_t seen = self.live->signal().news();
    RETURN_IF_ERROR(self.CheckHeld());
    ASSIGN_OR_RETURN(const TriggerEvent* event, self.queue->Next());
    if (event != nullptr) return event;
    const auto now = Clock::now();
    if (deadline && now >= *deadline) return nullptr;
    self.live->signal().Wait(
        seen, deadline ? std::min(*deadline, now + kConsumerLook) : now + kConsumerLook);
  }
}

Result<const TriggerEvent*> WaitForEvent(Consumption& self, Call& call,
                                         LiveQueue::Deadline deadline) {
  self.session.client->Rest();
  Result<const TriggerEvent*> event = AwaitEvent(self, call, deadline);
  call.Renew();
  return event;
}

Status Give(Consumption& self, Call& call, const TriggerEvent* event) {
  self.current = event != nullptr;
  if (event == nullptr) {
    call.Return(Value());
    return OkStatus();
  }
  self.session.events.Note(*event);
  call.Return(EventValue(*event, self.fields));
  return OkStatus();
}

Status RunGet(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const TriggerEvent* event,
                   WaitForEvent(SelfConsumption(object), call, std::nullopt));
  return Give(SelfConsumption(object), call, event);
}

Status RunPoll(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const Value timeout, call.Get(0));
  ASSIGN_OR_RETURN(const uint64_t timeout_ms, Milliseconds(timeout, "poll"));
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  ASSIGN_OR_RETURN(const TriggerEvent* event,
                   WaitForEvent(SelfConsumption(object), call, deadline));
  return Give(SelfConsumption(object), call, event);
}

// In a transaction with it; else by itself.
Status RunConsume(HostObject& object, Call& call) {
  Consumption& self = SelfConsumption(object);
  if (!std::exchange(self.current, false)) {
    call.Return(Value(kNothingToConsume));
    return OkStatus();
  }
  self.queue->Take();
  const Status status = self.session.begun ? OkStatus() : self.Commit({});
  call.Return(Value(self.session.Note(status)));
  return OkStatus();
}

Status RunNext(HostObject& object, Call& call) {
  Consumption& self = SelfConsumption(object);
  if (!self.session.begun) {
    return Error(Code::kConflict, "procedure.transaction", "missing transaction for next");
  }
  if (!std::exchange(self.current, false)) {
    call.Return(Value(kNothingToConsume));
    return OkStatus();
  }
  self.queue->Take();
  call.Return(Value(kOk));
  return OkStatus();
}

// Returns when the client asks for the next row. Past the timeout somebody else may take over.
Status RunConsumerEmit(HostObject& object, Call& call) {
  Consumption& self = SelfConsumption(object);
  const auto deadline = Clock::now() + std::chrono::milliseconds(self.emit_timeout_ms);
  const auto look = [&]() -> Status {
    if (Clock::now() >= deadline) self.seat->Stall();
    RETURN_IF_ERROR(CheckNotGone(self, call));
    // Who has lost its turn learns that when it consumes.
    return self.live->dropped() ? self.CheckHeld() : OkStatus();
  };
  const auto plain = std::exchange(self.session.emit, [&](Value row) {
    return self.session.client->PushAndWait(std::move(row), look);
  });
  const Status emitted = EmitArguments(self.session, call);
  self.session.emit = plain;
  RETURN_IF_ERROR(emitted);
  self.seat->Resume();
  if (self.queue->taken() == 0 && !self.current) self.Confirm();
  call.Renew();
  call.Return(Value(kOk));
  return OkStatus();
}

Status RunEmitTimeout(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const Value timeout, call.Get(0));
  ASSIGN_OR_RETURN(SelfConsumption(object).emit_timeout_ms, Milliseconds(timeout, "emit_timeout"));
  call.Return(Value(kOk));
  return OkStatus();
}

Result<ForwardOptions> ForwardOptionsOf(Call& call) {
  ForwardOptions options;
  ASSIGN_OR_RETURN(const Value given, call.Get(0));
  for (const json::Field& field : given.fields()) {
    if (field.name() == "batch" && field.value.is_bool()) {
      options.batch = field.value.AsBool();
    } else if (field.name() == "documents" && field.value.is_bool()) {
      options.documents = field.value.AsBool();
    } else if (field.name() == "sentinel" && field.value.is_bool()) {
      options.sentinel = field.value.AsBool();
    } else if (field.name() == "count") {
      const auto count = WholeNumber(field.value);
      if (!count || *count < 0) return Unexpected(BadArgument("count", "a whole number"));
      options.count = static_cast<uint64_t>(*count);
    } else if (field.name() == "poll_timeout") {
      ASSIGN_OR_RETURN(options.poll_timeout_ms, Milliseconds(field.value, "poll_timeout"));
    } else {
      return Unexpected(
          BadArgument("forward", "batch, count, documents, sentinel or poll_timeout"));
    }
  }
  return options;
}

// Sends events to the client from now on, as a default consumer does; returns after the last one.
Status RunForward(HostObject& object, Call& call) {
  Consumption& self = SelfConsumption(object);
  if (self.session.begun || self.session.emitter.columns().empty()) {
    return Error(Code::kConflict, "procedure.transaction",
                 "forward: expected no transaction, and columns that were named before");
  }
  ASSIGN_OR_RETURN(const ForwardOptions options, ForwardOptionsOf(call));
  self.Rewind();
  return Forwarder(self, call, options).Run();
}

struct ConsumerOptions {
  LiveQueue::Deadline deadline;
  EventFields fields;
};

Result<ConsumerOptions> OptionsOf(Call& call) {
  ConsumerOptions options;
  if (call.kind(0) == lua::Kind::kNil) return options;
  ASSIGN_OR_RETURN(const Value given, call.Get(0));
  if (!given.is_object() && given.size() > 0) {
    return Unexpected(BadArgument("consumer", "a table of options"));
  }
  for (const json::Field& field : given.fields()) {
    const std::string_view name = field.name();
    if (name == "register_timeout") {
      ASSIGN_OR_RETURN(const uint64_t timeout_ms, Milliseconds(field.value, "register_timeout"));
      options.deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
      continue;
    }
    bool* const flag = name == "with_tid"        ? &options.fields.tid
                       : name == "with_epoch"    ? &options.fields.epoch
                       : name == "with_sequence" ? &options.fields.sequence
                                                 : nullptr;
    if (flag == nullptr || !field.value.is_bool()) {
      return Unexpected(
          Error(Code::kInvalidArgument, "procedure.argument", "bad argument for '{}'{}", name,
                flag == nullptr ? ": there is no such option" : ": expected a boolean"));
    }
    *flag = field.value.AsBool();
  }
  return options;
}

// Events are for those who may read all that they tell of.
bool MayConsume(const Session& session, const TriggerDefinition& definition) {
  if (!session.request.guard) return true;
  const auto catalog = session.engine.database().catalog();
  return std::ranges::all_of(definition.sources, [&](const TriggerSource& source) {
    const db::KeyspaceInfo* const keyspace = catalog->Find(source.keyspace);
    return keyspace == nullptr ||
           session.request.guard(keyspace->name).ok();  // it is being dropped
  });
}

// db:consumer([options]): nil when the time to register is over.
Status RunConsumer(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  if (session.consumption != nullptr) {
    return Error(Code::kConflict, "consumer.registered", "consumer:{} already registered",
                 session.name);
  }
  auto live =
      session.triggers == nullptr ? Unexpected(Status()) : session.triggers->Find(session.name);
  if (!live || !(*live)->definition()->consumer || !MayConsume(session, *(*live)->definition())) {
    return Error(Code::kNotFound, "consumer.not_found",
                 "there is no consumer '{}': make it with CREATE LUA CONSUMER", session.name);
  }
  if (session.client == nullptr) {
    return Error(Code::kUnsupported, "consumer.needs_stream",
                 "a consumer needs a client that acknowledges rows: sluice sql, sluice consume or "
                 "the WebSocket at /query/stream");
  }
  ASSIGN_OR_RETURN(const ConsumerOptions options, OptionsOf(call));
  // Rows that came before it is this client's turn stand for no events.
  uint64_t confirmed = 0;
  auto seat = (*live)->seats().Take(session.request.user, options.deadline, [&] {
    const uint64_t acknowledged = session.client->acknowledged();
    if (acknowledged > confirmed) session.client->Confirm(acknowledged);
    confirmed = acknowledged;
    return call.stopped() || session.client->gone();
  });
  call.Renew();
  if (seat == nullptr) {
    if ((*live)->dropped()) {
      return Error(Code::kNotFound, "consumer.dropped", "consumer '{}' was dropped", session.name);
    }
    call.Return(Value());
    return OkStatus();
  }
  auto queue = std::make_unique<EventQueue>(session.engine, *live);
  session.consumption =
      std::make_shared<Consumption>(Consumption{.session = session,
                                                .live = std::move(*live),
                                                .seat = std::move(seat),
                                                .queue = std::move(queue),
                                                .fields = options.fields,
                                                .current = false,
                                                .emit_timeout_ms = kEmitTimeoutMs});
  call.Return(std::make_shared<ConsumerObject>(session.consumption));
  return OkStatus();
}

Status RunSpName(HostObject& object, Call& call) {
  call.Return(Value(SessionOf(object).name));
  return OkStatus();
}

}  // namespace

Status Consumption::CheckHeld() const {
  if (seat->held()) return OkStatus();
  if (live->dropped()) {
    return Error(Code::kNotFound, "consumer.dropped", "consumer '{}' was dropped", session.name);
  }
  return Error(Code::kConflict, "consumer.taken_over",
               "another client has taken over consumer '{}'", session.name);
}

Status Consumption::Commit(db::Commit commit) {
  current = false;
  RETURN_IF_ERROR(CheckHeld());
  RETURN_IF_ERROR(queue->Commit(std::move(commit)));
  Confirm();
  return OkStatus();
}

void Consumption::Confirm() { session.client->Confirm(session.client->acknowledged()); }

void Consumption::Rewind() {
  current = false;
  queue->Rewind();
}

const lua::HostClass& ConsumerObject::Class() {
  static const lua::HostClass type{.name = "dbconsumer",
                                   .methods = {{"get", RunGet},
                                               {"poll", RunPoll},
                                               {"consume", RunConsume},
                                               {"next", RunNext},
                                               {"emit", RunConsumerEmit},
                                               {"emit_timeout", RunEmitTimeout},
                                               {"forward", RunForward}},
                                   .constants = {}};
  return type;
}

std::vector<lua::Method> ConsumerMethods() {
  return {{"consumer", RunConsumer}, {"spname", RunSpName}};
}

}  // namespace sluice::procedure
