#include "procedure/forwarder.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace sluice::procedure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kForwarderLook(100);
// Of events that were sent and not consumed.
constexpr size_t kMaxBytes = 16 << 20;

}  // namespace

Forwarder::Forwarder(Consumption& consumption, lua::Call& call, ForwardOptions options)
    : self_(consumption),
      call_(call),
      client_(*consumption.session.client),
      options_(options),
      zone_(consumption.session.zone()),
      left_(options.count),
      acknowledged_(client_.acknowledged()),
      progressed_(Clock::now()) {
  static constexpr std::pair<std::string_view, Source> kNamed[] = {
      {"comdb2_event", Source::kEvent}, {"comdb2_id", Source::kId},
      {"comdb2_tid", Source::kTid},     {"comdb2_sequence", Source::kSequence},
      {"comdb2_epoch", Source::kEpoch},
  };
  for (const Emitter::Column& column : self_.session.emitter.columns()) {
    const auto named =
        std::ranges::find(kNamed, column.name, [](auto& pair) { return pair.first; });
    Source source = named == std::end(kNamed) ? Source::kField : named->second;
    if (options_.documents && column.name == "key") source = Source::kKey;
    if (options_.documents && column.name == "document") source = Source::kDocument;
    sources_.push_back(source);
  }
  client_.SetWake({self_.live, &self_.live->signal()});
}

Forwarder::~Forwarder() { client_.SetWake(nullptr); }

Status Forwarder::Run() {
  while (true) {
    const uint64_t seen = self_.live->signal().news();
    RETURN_IF_ERROR(self_.CheckHeld());
    const bool gone = call_.stopped() || client_.gone();
    // What the client acknowledged before it went counts, also if it goes during a push.
    RETURN_IF_ERROR(ConsumeAcknowledged());
    if (gone) {
      return Error(Code::kCancelled, "procedure.client_gone",
                   "the client has gone, or has cancelled the request");
    }
    if (left_ == 0 && units_.empty()) return OkStatus();
    bool pushed = false;
    if (left_ > 0 && MayPush()) {
      const Result<bool> result = PushEvent();
      if (!result) {
        RETURN_IF_ERROR(ConsumeAcknowledged());
        return result.error();
      }
      pushed = *result;
    }
    if (!pushed) RETURN_IF_ERROR(Wait(seen));
  }
}

bool Forwarder::MayPush() const {
  if (open_.events > 0) return client_.HasRoom();
  if (units_.empty()) return true;
  return client_.runs_ahead() && bytes_ < kMaxBytes && client_.HasRoom();
}

Result<bool> Forwarder::PushEvent() {
  ASSIGN_OR_RETURN(const TriggerEvent* event, self_.queue->Next());
  if (event == nullptr) return false;
  if (units_.empty() && open_.events == 0) progressed_ = Clock::now();
  if (event->type == "upd") {
    RETURN_IF_ERROR(PushRow(event, "old", event->deleted));
    RETURN_IF_ERROR(PushRow(event, "new", event->inserted));
  } else {
    RETURN_IF_ERROR(PushRow(event, event->type,
                            event->inserted.is_missing() ? event->deleted : event->inserted));
  }
  ++open_.events;
  --left_;
  open_.bytes += event->bytes;
  bytes_ += event->bytes;
  const int64_t tid = event->tid();
  open_.origin = self_.queue->origin();
  self_.queue->Take();
  bool last = true;
  if (options_.batch || options_.sentinel) {
    ASSIGN_OR_RETURN(last, IsLastOf(tid));
  }
  if (options_.sentinel && last) RETURN_IF_ERROR(PushRow(nullptr, "txn", {}));
  if (!options_.batch || last || left_ == 0) EndUnit();
  if (last) self_.queue->EndTurn();
  return true;
}

// A commit's events are all there, or none is.
Result<bool> Forwarder::IsLastOf(int64_t tid) {
  ASSIGN_OR_RETURN(const TriggerEvent* following, self_.queue->Next());
  return following == nullptr || following->tid() != tid;
}

void Forwarder::EndUnit() {
  open_.last_row = client_.pushed();
  units_.push_back(std::exchange(open_, Unit{}));
}

Status Forwarder::PushRow(const TriggerEvent* event, std::string_view kind, const Value& values) {
  const std::vector<Emitter::Column>& columns = self_.session.emitter.columns();
  std::vector<Value> row(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (sources_[i] == Source::kEvent) row[i] = Value(kind);
    if (event == nullptr) continue;
    switch (sources_[i]) {
      case Source::kEvent:
        break;
      case Source::kId:
        row[i] = Value::Bytes(event->id());
        break;
      case Source::kTid:
        row[i] = Value(event->tid());
        break;
      case Source::kSequence:
        row[i] = Value(event->sequence());
        break;
      case Source::kEpoch:
        row[i] = Value(event->epoch());
        break;
      case Source::kKey:
        row[i] = Value(event->key);
        break;
      case Source::kDocument:
        row[i] = values;
        break;
      case Source::kField:
        row[i] = values[std::string_view(columns[i].name)];
        break;
    }
  }
  ASSIGN_OR_RETURN(Value made, self_.session.emitter.Positional(std::move(row), zone_));
  return client_.Push(std::move(made));
}

Status Forwarder::ConsumeAcknowledged() {
  const uint64_t acknowledged = client_.acknowledged();
  if (acknowledged == acknowledged_) return OkStatus();
  acknowledged_ = acknowledged;
  progressed_ = Clock::now();
  self_.seat->Resume();
  size_t units = 0;
  for (; units < units_.size() && units_[units].last_row <= acknowledged; ++units) {
    bytes_ -= units_[units].bytes;
  }
  if (units == 0) return OkStatus();
  RETURN_IF_ERROR(Consume(units));
  client_.Confirm(units_[units - 1].last_row);
  units_.erase(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(units));
  return OkStatus();
}

Status Forwarder::Consume(size_t count) {
  std::vector<std::pair<EventQueue::Origin, size_t>> consumed;  // with the number of events
  for (const Unit& unit : units_ | std::views::take(count)) {
    if (unit.events == 0) continue;
    const auto known =
        std::ranges::find(consumed, unit.origin, [](const auto& pair) { return pair.first; });
    if (known == consumed.end()) {
      consumed.emplace_back(unit.origin, unit.events);
    } else {
      known->second += unit.events;
    }
  }
  for (const auto& [origin, events] : consumed) {
    const Status status = self_.queue->Consume(origin, events);
    if (status.ok()) continue;
    RETURN_IF_ERROR(self_.CheckHeld());
    return status;
  }
  return OkStatus();
}

Status Forwarder::Wait(uint64_t seen) {
  const Time now = Clock::now();
  Time until = now + kForwarderLook;
  if (!units_.empty() || open_.events > 0) {
    const Time stalls = progressed_ + std::chrono::milliseconds(self_.emit_timeout_ms);
    if (now >= stalls) {
      self_.seat->Stall();
    } else {
      until = std::min(until, stalls);
    }
  } else if (options_.poll_timeout_ms) {
    const Time quiet = progressed_ + std::chrono::milliseconds(*options_.poll_timeout_ms);
    if (now >= quiet) {
      progressed_ = now;
      RETURN_IF_ERROR(PushRow(nullptr, "poll_timeout", {}));
      EndUnit();
      return OkStatus();
    }
    until = std::min(until, quiet);
  }
  self_.live->signal().Wait(seen, until);
  return OkStatus();
}

}  // namespace sluice::procedure
