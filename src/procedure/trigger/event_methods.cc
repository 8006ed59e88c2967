// db:get_event_tid, get_event_epoch, get_event_sequence.
#include "procedure/arguments.h"
#include "procedure/db_object.h"

namespace sluice::procedure {
namespace {

using lua::Call;
using lua::HostObject;

Result<const RecentEvents::Facts*> FactsOf(HostObject& object, Call& call,
                                           std::string_view method) {
  ASSIGN_OR_RETURN(const Value event, call.Get(0));
  const Value& id = event["id"];
  const RecentEvents& events = SessionOf(object).events;
  if (!event.is_object() || event["type"].is_missing()) {
    return Unexpected(BadArgument(method, "an event"));
  }
  // A procedure that has put something else into the id means the event that it got last.
  const RecentEvents::Facts* const facts =
      id.is_bytes() ? events.Find(id.AsBytes()) : events.last();
  if (facts == nullptr) return Unexpected(BadArgument(method, "an event that this run was given"));
  return facts;
}

Status RunTid(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const auto* facts, FactsOf(object, call, "get_event_tid"));
  call.Return(Value(facts->tid));
  return OkStatus();
}

Status RunEpoch(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const auto* facts, FactsOf(object, call, "get_event_epoch"));
  call.Return(Value(facts->epoch));
  return OkStatus();
}

Status RunSequence(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(const auto* facts, FactsOf(object, call, "get_event_sequence"));
  call.Return(Value(facts->sequence));
  return OkStatus();
}

}  // namespace

std::vector<lua::Method> EventMethods() {
  return {{"get_event_tid", RunTid},
          {"get_event_epoch", RunEpoch},
          {"get_event_sequence", RunSequence}};
}

}  // namespace sluice::procedure
