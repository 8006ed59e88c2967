// A function's events that failed: list, look at one, edit, replay, drop. Couchbase has no such
// requests.
//
// GET .../failures?limit=&from= gives {"failures": [{id, state, event, error, attempts, ...}],
// "next": ...} in the order in which they first failed; `next`, if there is more, is the next
// request's `from`. GET .../failures/{id} adds the event's data and the error's stack.

#include "base/time_text.h"
#include "function/failed_event.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/eventing_routes.h"

namespace sluice::rest {
namespace {

using json::Value;

constexpr int64_t kDefaultFailures = 100;
constexpr int64_t kMaxFailures = 10'000;

Value FailureErrorView(const failure::Problem& problem) {
  Value view = Value::Object({{"class", problem.kind}});
  if (!problem.type.empty()) view.Set("type", problem.type);
  view.Set("message", problem.message);
  if (problem.line > 0) {
    view.Set("line", problem.line);
    view.Set("column", problem.column);
  }
  return view;
}

Value FailureView(const failure::FailureList::Item& item) {
  const failure::Failure& failure = item.failure;
  Value view = Value::Object({{"id", failure::ToText(failure.id)},
                              {"state", item.due_ms ? "waiting" : "dead"},
                              {"event", function::PrintEvent(failure)},
                              {"error", FailureErrorView(failure.problem)},
                              {"attempts", failure.attempts},
                              {"first", UtcText(failure.first_ms)},
                              {"last", UtcText(failure.last_ms)}});
  if (item.due_ms) view.Set("next_try", UtcText(*item.due_ms));
  if (failure.edits > 0) view.Set("edits", failure.edits);
  return view;
}

Result<Value> FailuresOf(const EventingCall& call) {
  ASSIGN_OR_RETURN(const function::Definition definition, FindManaged(call, call.location()));
  ASSIGN_OR_RETURN(const int64_t limit,
                   call.request.QueryInt("limit", kDefaultFailures, 1, kMaxFailures));
  failure::FailureId from;
  if (const auto text = call.request.Query("from")) {
    ASSIGN_OR_RETURN(from, failure::ParseFailureId(*text));
  }
  ASSIGN_OR_RETURN(const function::FailurePage page,
                   call.manager.Failures(definition.Location(), from, static_cast<size_t>(limit)));
  Value list = Value::EmptyArray();
  for (const failure::FailureList::Item& item : page.failures) list.Append(FailureView(item));
  Value answer = Value::Object({{"failures", list}});
  if (page.next) answer.Set("next", failure::ToText(*page.next));
  return answer;
}

void ListFunctionFailures(EventingCall& call) {
  const Result<Value> list = FailuresOf(call);
  if (!list) return call.Refuse(list.error());
  call.Answer(*list);
}

// The function's location and the failure's id, as the path has them.
struct Named {
  std::string location;
  failure::FailureId id;
};
Result<Named> NamedBy(const EventingCall& call) {
  ASSIGN_OR_RETURN(const function::Definition definition, FindManaged(call, call.location()));
  ASSIGN_OR_RETURN(const failure::FailureId id, failure::ParseFailureId(call.request.Param("id")));
  return Named{definition.Location(), id};
}

Result<Value> OneOf(const EventingCall& call) {
  ASSIGN_OR_RETURN(const Named named, NamedBy(call));
  ASSIGN_OR_RETURN(const function::KeptFailure kept,
                   call.manager.FindFailure(named.location, named.id));
  Value view = FailureView(kept.item);
  ASSIGN_OR_RETURN(Value event, function::PrintEvent(kept.item.failure, kept.payload));
  view.Set("event", std::move(event));
  Value error = FailureErrorView(kept.item.failure.problem);
  error.Set("stack", kept.item.failure.problem.stack);
  view.Set("error", std::move(error));
  return view;
}

void ShowFunctionFailure(EventingCall& call) {
  const Result<Value> view = OneOf(call);
  if (!view) return call.Refuse(view.error());
  call.Answer(*view);
}

using FailureChange = Status (function::Manager::*)(const std::string&, const failure::FailureId&);
template <FailureChange kChange>
void ChangeFailure(EventingCall& call) {
  const Result<Named> named = NamedBy(call);
  if (!named) return call.Refuse(named.error());
  call.Done((call.manager.*kChange)(named->location, named->id), "");
}

using ChangeAll = Result<uint64_t> (function::Manager::*)(const std::string&);
template <ChangeAll kChange>
void ChangeFailures(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  const Result<uint64_t> count = (call.manager.*kChange)(definition->Location());
  if (!count) return call.Refuse(count.error());
  call.Answer(Value::Object({{"code", 0}, {"count", Value::Unsigned(*count)}}));
}

Status Edit(const EventingCall& call) {
  ASSIGN_OR_RETURN(const Named named, NamedBy(call));
  ASSIGN_OR_RETURN(const Value changes, ReadObject(call.request.body(), {"document", "context"}));
  return call.manager.EditFailure(named.location, named.id, changes);
}

void EditFailure(EventingCall& call) { call.Done(Edit(call), ""); }

constexpr EventingRoute kFailureRoutes[] = {
    {Method::kGet, "/api/v1/functions/{name}/failures", "A function's failed events",
     ListFunctionFailures, kKnown},
    {Method::kDelete, "/api/v1/functions/{name}/failures", "Drop all failed events",
     ChangeFailures<&function::Manager::DropFailures>, kKnown},
    {Method::kPost, "/api/v1/functions/{name}/failures/replay", "Run all failed events again",
     ChangeFailures<&function::Manager::ReplayFailures>, kKnown},
    {Method::kGet, "/api/v1/functions/{name}/failures/{id}", "A failed event with its data",
     ShowFunctionFailure, kKnown},
    {Method::kPut, "/api/v1/functions/{name}/failures/{id}", "Change a failed event's data",
     EditFailure, kKnown},
    {Method::kDelete, "/api/v1/functions/{name}/failures/{id}", "Drop a failed event",
     ChangeFailure<&function::Manager::DropFailure>, kKnown},
    {Method::kPost, "/api/v1/functions/{name}/failures/{id}/replay", "Run a failed event again",
     ChangeFailure<&function::Manager::ReplayFailure>, kKnown},
};

}  // namespace

std::span<const EventingRoute> FailureRoutes() { return kFailureRoutes; }

}  // namespace sluice::rest
