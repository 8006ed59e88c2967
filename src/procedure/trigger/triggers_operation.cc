// Triggers and consumers as operators look at them.
#include <utility>

#include "procedure/trigger/dead_letter.h"
#include "procedure/trigger/triggers.h"

namespace sluice::procedure {

Result<TriggerStatus> Triggers::StatusOf(const std::string& name) const {
  TriggerStatus status;
  ASSIGN_OR_RETURN(const auto queue, Find(name));
  ASSIGN_OR_RETURN(const auto dead_letters, DeadLettersOf(name));
  ASSIGN_OR_RETURN(status.progress, ProgressOf(name));
  status.definition = queue->definition();
  status.dead_letters = dead_letters->kept();
  status.occupancy = queue->seats().occupancy();
  ASSIGN_OR_RETURN(const auto events, OpenEventQueue(engine_, status.definition));
  ASSIGN_OR_RETURN(status.depth,
                   queue->counter().Count(engine_, status.definition, events->stored()));
  ASSIGN_OR_RETURN(const TriggerEvent* const head, NextEvent(*events));
  if (head != nullptr) status.head = *head;
  return status;
}

std::vector<TriggerStatus> Triggers::ListStatus() const {
  std::vector<TriggerStatus> list;
  for (const auto& queue : Queues()) {
    auto status = StatusOf(queue->definition()->name);
    if (status) list.push_back(std::move(*status));  // else it was dropped meanwhile
  }
  return list;
}

std::vector<TriggerCounts> Triggers::Counts() const {
  std::vector<TriggerCounts> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, live] : live_) {
    if (live.runner == nullptr) continue;
    all.push_back({name, live.runner->progress(), live.dead_letters->kept()});
  }
  return all;
}

Result<std::shared_ptr<TriggerRunner>> Triggers::RunnerOf(const std::string& name) const {
  ASSIGN_OR_RETURN(const auto queue, Find(name));
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(name);
  if (found != live_.end() && found->second.runner != nullptr) return found->second.runner;
  return Fail(Code::kInvalidArgument, "trigger.is_consumer",
              "'{}' is a consumer: its events are its client's to pass", name);
}

Result<std::shared_ptr<failure::FailureList>> Triggers::DeadLettersOf(
    const std::string& name) const {
  ASSIGN_OR_RETURN(const auto queue, Find(name));
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(name);
  if (found != live_.end()) return found->second.dead_letters;
  return Fail(Code::kNotFound, "trigger.not_found", "there is no trigger or consumer '{}'", name);
}

Result<Value> Triggers::ShowDeadLetter(const std::string& name, uint64_t id) const {
  ASSIGN_OR_RETURN(const auto queue, Find(name));
  ASSIGN_OR_RETURN(const auto dead_letters, DeadLettersOf(name));
  ASSIGN_OR_RETURN(const failure::FailureList::Item item, dead_letters->Find(id));
  ASSIGN_OR_RETURN(const std::string payload, dead_letters->Payload(id));
  ASSIGN_OR_RETURN(EventMaker maker, EventMaker::Make(engine_, queue->definition()));
  const Result<TriggerEvent> event = EventAgain(maker, item.failure, payload);
  if (event) return EventView(*event);
  if (event.error().id() == "trigger.source_gone") return EventSummary(item.failure);
  return Unexpected(event.error());
}

}  // namespace sluice::procedure
