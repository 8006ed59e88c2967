// GET .../failures?limit=&from= gives {"failures": [...], "next": ...} in the order in which they
// became dead letters; `next`, if there is more, is the next request's `from`.
#include "rest/triggers.h"

#include <functional>
#include <utility>

#include "base/bytes.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/http_types.h"
#include "rest/trigger_view.h"

namespace sluice::rest {
namespace {

using json::Value;
using procedure::Triggers;

constexpr int64_t kDefaultListed = 100;
constexpr int64_t kMaxListed = 10'000;

std::string TriggerNameOf(const Request& request) { return std::string(request.Param("name")); }

// The event of ?event= or of {"event": "..."}.
Result<std::string> EventIdOf(const Request& request) {
  std::optional<std::string> digits;
  if (const auto parameter = request.Query("event")) digits = *parameter;
  ASSIGN_OR_RETURN(const Value body, ReadObject(request.body(), {"event"}));
  if (!digits) {
    ASSIGN_OR_RETURN(digits, RequiredString(body, "event"));
  }
  const auto place = procedure::PlaceOfHexId(*digits);
  if (place) return procedure::EventId(*place);
  return Fail(Code::kInvalidArgument, "trigger.bad_event_id",
              "expected the id of an event, {} hexadecimal digits, got '{}'",
              2 * procedure::kEventIdBytes, digits->substr(0, 80));
}

Result<Value> ListTriggers(Triggers& triggers, const Request& /*request*/) {
  Value list = Value::EmptyArray();
  for (const procedure::TriggerStatus& status : triggers.ListStatus()) {
    list.Append(TriggerView(status));
  }
  return Value::Object({{"triggers", std::move(list)}});
}

Result<Value> ShowTrigger(Triggers& triggers, const Request& request) {
  ASSIGN_OR_RETURN(const procedure::TriggerStatus status,
                   triggers.StatusOf(TriggerNameOf(request)));
  return TriggerDetails(status);
}

template <bool kHeld>
Status Hold(Triggers& triggers, const Request& request) {
  ASSIGN_OR_RETURN(const auto runner, triggers.RunnerOf(TriggerNameOf(request)));
  return triggers.Hold(TriggerNameOf(request), kHeld);
}

using PassHead = Status (procedure::TriggerRunner::*)(const std::string&);
template <PassHead kPass>
Status Pass(Triggers& triggers, const Request& request) {
  ASSIGN_OR_RETURN(const auto runner, triggers.RunnerOf(TriggerNameOf(request)));
  ASSIGN_OR_RETURN(const std::string event, EventIdOf(request));
  return (runner.get()->*kPass)(event);
}

Result<Value> ListTriggerFailures(Triggers& triggers, const Request& request) {
  ASSIGN_OR_RETURN(const auto letters, triggers.DeadLettersOf(TriggerNameOf(request)));
  ASSIGN_OR_RETURN(const int64_t limit, request.QueryInt("limit", kDefaultListed, 1, kMaxListed));
  failure::FailureId from;
  if (const auto text = request.Query("from")) {
    ASSIGN_OR_RETURN(from, failure::ParseFailureId(*text));
  }
  Value list = Value::EmptyArray();
  std::string next;
  RETURN_IF_ERROR(letters->Visit(from, [&](const failure::FailureList::Item& item) {
    if (list.size() == static_cast<size_t>(limit)) {
      next = failure::ToText(item.failure.id);
      return false;
    }
    list.Append(DeadLetterView(item));
    return true;
  }));
  Value answer = Value::Object({{"failures", std::move(list)}});
  if (!next.empty()) answer.Set("next", std::move(next));
  return answer;
}

Result<Value> ShowTriggerFailure(Triggers& triggers, const Request& request) {
  ASSIGN_OR_RETURN(const auto letters, triggers.DeadLettersOf(TriggerNameOf(request)));
  ASSIGN_OR_RETURN(const failure::FailureId id, failure::ParseFailureId(request.Param("id")));
  ASSIGN_OR_RETURN(const failure::FailureList::Item item, letters->Find(id));
  ASSIGN_OR_RETURN(Value event, triggers.ShowDeadLetter(TriggerNameOf(request), id));
  Value view = DeadLetterView(item);
  view.Set("event", std::move(event));
  return view;
}

Status RetryFailure(Triggers& triggers, const Request& request) {
  ASSIGN_OR_RETURN(const auto runner, triggers.RunnerOf(TriggerNameOf(request)));
  ASSIGN_OR_RETURN(const failure::FailureId id, failure::ParseFailureId(request.Param("id")));
  return runner->RetryDeadLetter(id);
}

Status DropFailure(Triggers& triggers, const Request& request) {
  ASSIGN_OR_RETURN(const auto letters, triggers.DeadLettersOf(TriggerNameOf(request)));
  ASSIGN_OR_RETURN(const failure::FailureId id, failure::ParseFailureId(request.Param("id")));
  return letters->Drop(id);
}

Result<Value> DropFailures(Triggers& triggers, const Request& request) {
  ASSIGN_OR_RETURN(const auto letters, triggers.DeadLettersOf(TriggerNameOf(request)));
  ASSIGN_OR_RETURN(const uint64_t count, letters->DropAll());
  return Value::Object({{"count", Value::Unsigned(count)}});
}

struct Question {
  Method method;
  const char* path;
  const char* summary;
  Result<Value> (*answer)(Triggers&, const Request&);
};
constexpr Question kQuestions[] = {
    {Method::kGet, "/v1/triggers", "Triggers and consumers, and how they are doing", ListTriggers},
    {Method::kGet, "/v1/triggers/{name}", "A trigger, with the event at its head", ShowTrigger},
    {Method::kGet, "/v1/triggers/{name}/failures", "A trigger's dead letters", ListTriggerFailures},
    {Method::kDelete, "/v1/triggers/{name}/failures", "Drop all dead letters", DropFailures},
    {Method::kGet, "/v1/triggers/{name}/failures/{id}", "A dead letter with its data",
     ShowTriggerFailure},
};

struct Order {
  Method method;
  const char* path;
  const char* summary;
  Status (*run)(Triggers&, const Request&);
};
using Runner = procedure::TriggerRunner;
constexpr Order kOrders[] = {
    {Method::kPost, "/v1/triggers/{name}/hold", "Stop a trigger for now", Hold<true>},
    {Method::kPost, "/v1/triggers/{name}/resume", "Continue a held trigger", Hold<false>},
    {Method::kPost, "/v1/triggers/{name}/skip", "Pass the event at the head", Pass<&Runner::Skip>},
    {Method::kPost, "/v1/triggers/{name}/dead-letter",
     "Pass the event at the head, and keep it as a dead letter", Pass<&Runner::MoveToDeadLetters>},
    {Method::kPost, "/v1/triggers/{name}/failures/{id}/retry",
     "Run the procedure for a dead letter, which is gone if that succeeds", RetryFailure},
    {Method::kDelete, "/v1/triggers/{name}/failures/{id}", "Drop a dead letter", DropFailure},
};

std::vector<Parameter> TriggerParametersOf(std::string_view path) {
  if (path.ends_with("/skip") || path.ends_with("/dead-letter")) {
    return {{.name = "event", .description = "the id of the event; or in the body"}};
  }
  if (path.ends_with("/failures")) {
    return {{.name = "limit", .description = "at most 10000", .type = "integer"},
            {.name = "from", .description = "`next` of the answer before"}};
  }
  return {};
}

}  // namespace

Status AddTriggerRoutes(Router& router, Triggers& triggers) {
  for (const Question& question : kQuestions) {
    RETURN_IF_ERROR(router.Add(
        {.method = question.method,
         .path = question.path,
         .summary = question.summary,
         .tag = "triggers",
         .parameters = question.method == Method::kGet ? TriggerParametersOf(question.path)
                                                       : std::vector<Parameter>(),
         .responses = {{200, "the requested data", Content{}}, {404, "not found"}},
         .auth = std::string(kAdmin),
         .handler = Blocking([&triggers, &question](Request& request, Response& response) {
           const Result<Value> answer = question.answer(triggers, request);
           if (!answer) return response.Error(answer.error());
           response.Json(200, AnswerText(*answer));
         })}));
  }
  for (const Order& order : kOrders) {
    RETURN_IF_ERROR(
        router.Add({.method = order.method,
                    .path = order.path,
                    .summary = order.summary,
                    .tag = "triggers",
                    .parameters = TriggerParametersOf(order.path),
                    .responses = {{204, "done"}, {404, "not found"}, {409, "not the head"}},
                    .auth = std::string(kAdmin),
                    .handler = Blocking([&triggers, &order](Request& request, Response& response) {
                      const Status done = order.run(triggers, request);
                      if (!done.ok()) return response.Error(done);
                      response.NoContent();
                    })}));
  }
  return OkStatus();
}

}  // namespace sluice::rest
