// A function's timers: what waits, cancel, run now. Couchbase has no such requests.
//
// GET .../timers?limit=&from= gives {"timers": [{callback, reference, due, due_ms, context}],
// "next":
// ...} in the order in which they are due; `next`, if there is more, is the next request's `from`.
#include <charconv>

#include "base/time_text.h"
#include "json/parse.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/eventing_routes.h"

namespace sluice::rest {
namespace {

using json::Value;

constexpr int64_t kDefaultTimers = 100;
constexpr int64_t kMaxTimers = 10'000;

// A moment as text: "1700000000000-12345", and in a shard other than 0 "1700000000000-12345-3".
std::string TextOf(const timer::Moment& moment) {
  std::string text = fmt::format("{}-{}", moment.due_ms, moment.id);
  if (moment.shard != 0) text += fmt::format("-{}", moment.shard);
  return text;
}

Result<timer::Moment> MomentOf(std::string_view text) {
  timer::Moment moment;
  const char* const end = text.data() + text.size();
  const auto due = std::from_chars(text.data(), end, moment.due_ms);
  if (due.ec == std::errc() && due.ptr != end && *due.ptr == '-') {
    const auto id = std::from_chars(due.ptr + 1, end, moment.id);
    if (id.ec == std::errc() && id.ptr == end) return moment;
    if (id.ec == std::errc() && *id.ptr == '-') {
      const auto shard = std::from_chars(id.ptr + 1, end, moment.shard);
      if (shard.ec == std::errc() && shard.ptr == end) return moment;
    }
  }
  return Fail(Code::kInvalidArgument, "timer.bad_from",
              "'from' must be the 'next' of an earlier answer, got '{}'", text.substr(0, 80));
}

Value TimerView(const timer::Timer& timer) {
  Value view = Value::Object({{"callback", timer.callback},
                              {"reference", timer.reference},
                              {"due", UtcText(timer.moment.due_ms)},
                              {"due_ms", Value::Unsigned(timer.moment.due_ms)}});
  if (timer.context.empty()) return view;
  if (Result<Value> context = json::Parse(timer.context)) view.Set("context", std::move(*context));
  return view;
}

Result<Value> TimersOf(const EventingCall& call) {
  ASSIGN_OR_RETURN(const function::Definition definition, FindManaged(call, call.location()));
  ASSIGN_OR_RETURN(const int64_t limit,
                   call.request.QueryInt("limit", kDefaultTimers, 1, kMaxTimers));
  timer::Moment from;
  if (const auto text = call.request.Query("from")) {
    ASSIGN_OR_RETURN(from, MomentOf(*text));
  }
  ASSIGN_OR_RETURN(const function::TimerPage page,
                   call.manager.Timers(definition.Location(), from, static_cast<size_t>(limit)));
  Value list = Value::EmptyArray();
  for (const timer::Timer& timer : page.timers) list.Append(TimerView(timer));
  Value answer = Value::Object({{"timers", list}});
  if (page.next) answer.Set("next", TextOf(*page.next));
  return answer;
}

void ListTimers(EventingCall& call) {
  const Result<Value> list = TimersOf(call);
  if (!list) return call.Refuse(list.error());
  call.Answer(*list);
}

using TimerChange = Status (function::Manager::*)(const std::string&, const std::string&,
                                                  const std::string&);

template <TimerChange kChange>
void ChangeTimer(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  call.Done(
      (call.manager.*kChange)(definition->Location(), std::string(call.request.Param("callback")),
                              std::string(call.request.Param("reference"))),
      "");
}

constexpr EventingRoute kTimerRoutes[] = {
    {Method::kGet, "/api/v1/functions/{name}/timers", "A function's timers", ListTimers, kKnown},
    {Method::kDelete, "/api/v1/functions/{name}/timers/{callback}/{reference}", "Cancel a timer",
     ChangeTimer<&function::Manager::CancelTimer>, kKnown},
    {Method::kPost, "/api/v1/functions/{name}/timers/{callback}/{reference}", "Let a timer run now",
     ChangeTimer<&function::Manager::FireTimer>, kKnown},
};

}  // namespace

std::span<const EventingRoute> TimerRoutes() { return kTimerRoutes; }

}  // namespace sluice::rest
