#include "rest/trigger_view.h"

#include "base/bytes.h"
#include "base/time_text.h"
#include "procedure/trigger/dead_letter.h"

namespace sluice::rest {
namespace {

using json::Value;
using procedure::EventColumns;

// What an event carries: "*" for the whole document; missing when the trigger has no such event.
Value ColumnsView(const std::optional<EventColumns>& event) {
  if (!event) return {};
  if (event->whole) return Value("*");
  Value names = Value::EmptyArray();
  for (const EventColumns::Column& column : event->columns) names.Append(Value(column.name));
  return names;
}

Value SourceView(const procedure::TriggerSource& source) {
  Value view = Value::Object({{"table", source.name}});
  view.Set("insert", ColumnsView(source.inserted));
  view.Set("update", ColumnsView(source.updated));
  view.Set("delete", ColumnsView(source.deleted));
  if (!source.when.empty()) view.Set("when", source.when);
  if (!source.changed.empty()) {
    Value names = Value::EmptyArray();
    for (const std::string& name : source.changed) names.Append(Value(name));
    view.Set("changed", std::move(names));
  }
  return view;
}

Value SourcesView(const procedure::TriggerDefinition& definition) {
  Value sources = Value::EmptyArray();
  for (const procedure::TriggerSource& source : definition.sources) {
    sources.Append(SourceView(source));
  }
  return sources;
}

void SetProgress(const procedure::TriggerProgress& progress, Value* view) {
  using State = procedure::TriggerProgress::State;
  view->Set("state", procedure::StateName(progress.state));
  view->Set("handled", Value::Unsigned(progress.handled));
  view->Set("failures", Value::Unsigned(progress.failures));
  view->Set("conflicts", Value::Unsigned(progress.conflicts));
  if (const procedure::FailingHead* const head = progress.first_failing()) {
    view->Set("event", ToHex(head->event_id));
    view->Set("attempts", head->attempts);
    if (progress.state == State::kFailing) view->Set("next_try", UtcText(head->next_try_ms));
  }
  if (!progress.error.empty()) {
    view->Set("error", progress.error);
    view->Set("error_time", UtcText(progress.error_ms));
  }
}

void SetOccupancy(const procedure::Seats::Occupancy& occupancy, Value* view) {
  view->Set("state", procedure::StateName(occupancy.state));
  if (!occupancy.client.empty()) view->Set("owner", occupancy.client);
  view->Set("waiting_clients", Value::Unsigned(occupancy.waiting));
}

}  // namespace

Value TriggerView(const procedure::TriggerStatus& status) {
  const procedure::TriggerDefinition& definition = *status.definition;
  Value view = Value::Object({{"name", definition.name},
                              {"type", definition.consumer ? "consumer" : "trigger"},
                              {"with_sequence", Value(definition.with_sequence)},
                              {"sources", SourcesView(definition)}});
  if (definition.consumer) {
    SetOccupancy(status.occupancy, &view);
  } else {
    SetProgress(status.progress, &view);
  }
  view.Set("depth", Value::Unsigned(status.depth));
  view.Set("dead_letters", Value::Unsigned(status.dead_letters));
  return view;
}

Value TriggerDetails(const procedure::TriggerStatus& status) {
  Value view = TriggerView(status);
  if (status.head) view.Set("head", procedure::EventView(*status.head));
  return view;
}

Value DeadLetterView(const failure::FailureList::Item& item) {
  const failure::Failure& failure = item.failure;
  return Value::Object({{"id", failure::ToText(failure.id)},
                        {"event", procedure::EventSummary(failure)},
                        {"error", failure.problem.message},
                        {"attempts", failure.attempts},
                        {"first", UtcText(failure.first_ms)},
                        {"last", UtcText(failure.last_ms)}});
}

}  // namespace sluice::rest
