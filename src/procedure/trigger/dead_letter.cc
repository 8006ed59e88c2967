// The text of a failure is the JSON of EventSummary; its data is the log row's value.
#include "procedure/trigger/dead_letter.h"

#include "base/bytes.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::procedure {
namespace {

Status Corrupt() {
  return Error(Code::kCorruption, "failure.corrupt", "a stored failure is malformed");
}

}  // namespace

Result<DeadLetter> DeadLetterOf(db::Database& database, const TriggerEvent& event) {
  DeadLetter letter;
  ASSIGN_OR_RETURN(const bool found, database.followers().ReadLogRow(
                                         event.shard, event.after.position, &letter.payload));
  if (!found) return Unexpected(Corrupt());
  letter.failure.id = {database.NewCas(), event.shard};
  letter.failure.key = event.key;
  letter.failure.event = json::ToText(EventSummary(event));
  return letter;
}

Result<TriggerEvent> EventAgain(const db::Database& database, EventMaker& maker,
                                const failure::Failure& failure, std::string_view payload) {
  const Value summary = EventSummary(failure);
  if (!summary["id"].is_string() || !summary["sequence"].is_int()) return Unexpected(Corrupt());
  const auto place = PlaceOfHexId(summary["id"].AsString());
  if (!place) return Unexpected(Corrupt());
  db::Change change;
  const std::string key = db::LogKey(place->shard, place->position.sequence, place->position.n);
  RETURN_IF_ERROR(db::DecodeLogRow(key, payload, &change));
  ASSIGN_OR_RETURN(std::optional<TriggerEvent> event, maker.Unconditionally(change));
  if (!event) {
    return Fail(Code::kNotFound, "trigger.source_gone",
                "the table of this event was dropped, and the trigger does not stand on it any "
                "more");
  }
  event->shard = place->shard;
  event->shard_count = database.shard_count();
  event->after.position = place->position;
  event->after.events = static_cast<uint64_t>(summary["sequence"].AsInt());
  return std::move(*event);
}

Value EventSummary(const TriggerEvent& event) {
  Value view =
      Value::Object({{"id", ToHex(event.id())}, {"name", event.name}, {"type", event.type}});
  if (!event.key.empty()) view.Set("key", event.key);
  if (event.HasShard()) view.Set("shard", event.shard);
  view.Set("tid", event.tid());
  view.Set("sequence", event.sequence());
  view.Set("time_ms", Value::Unsigned(event.time_ms));
  return view;
}

Value EventSummary(const failure::Failure& failure) {
  const Result<Value> text = json::Parse(failure.event);
  return text ? *text : Value::EmptyObject();
}

Value EventView(const TriggerEvent& event) {
  Value view = EventSummary(event);
  view.Set("new", event.inserted);
  view.Set("old", event.deleted);
  return view;
}

}  // namespace sluice::procedure
