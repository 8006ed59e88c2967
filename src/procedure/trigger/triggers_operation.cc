// The part of Triggers that shows triggers and consumers to operators.
#include <utility>

#include "procedure/trigger/dead_letter.h"
#include "procedure/trigger/triggers.h"

namespace sluice::procedure {

Result<TriggerStatus> Triggers::StatusOf(const std::string& name) const {
  TriggerStatus status;
  ASSIGN_OR_RETURN(const auto live, LiveOf(name));
  const auto& queue = live->queue;
  if (live->runner != nullptr) status.progress = live->runner->progress();
  status.definition = queue->definition();
  status.dead_letters = live->dead_letters->kept();
  status.occupancy = queue->seats().occupancy();
  ASSIGN_OR_RETURN(Waiting waiting, WaitingOf(*live));
  status.depth = waiting.depth;
  status.head = std::move(waiting.head);
  return status;
}

Result<Triggers::Waiting> Triggers::WaitingOf(const Live& live) const {
  const auto definition = live.queue->definition();
  TriggerProgress progress;
  if (live.runner != nullptr) progress = live.runner->progress();
  Waiting waiting;
  bool fails = false;
  for (const db::ShardId shard : ShardsOf(*definition, engine_.database().shard_count())) {
    ASSIGN_OR_RETURN(const auto events, OpenShardQueue(engine_, definition, shard));
    ASSIGN_OR_RETURN(const uint64_t depth,
                     live.queue->counter().Count(engine_, definition, shard, events->stored()));
    waiting.depth += depth;
    waiting.consumed += events->stored().events;
    ASSIGN_OR_RETURN(const TriggerEvent* const head, NextEvent(*events));
    if (head == nullptr || fails) continue;
    fails = progress.failing.contains(shard);
    if (fails || !waiting.head || head->time_ms < waiting.head->time_ms) waiting.head = *head;
  }
  return waiting;
}

std::vector<TriggerStatus> Triggers::ListStatus() const {
  std::vector<TriggerStatus> list;
  for (const auto& live : All()) {
    auto status = StatusOf(live->queue->definition()->name);
    if (status) list.push_back(std::move(*status));  // else it was dropped meanwhile
  }
  return list;
}

std::vector<TriggerCounts> Triggers::Counts() const {
  std::vector<TriggerCounts> all;
  for (const auto& live : All()) {
    if (live->runner == nullptr) continue;
    all.push_back(
        {live->queue->definition()->name, live->runner->progress(), live->dead_letters->kept()});
  }
  return all;
}

Result<std::shared_ptr<TriggerRunner>> Triggers::RunnerOf(const std::string& name) const {
  ASSIGN_OR_RETURN(const auto live, LiveOf(name));
  if (live->runner != nullptr) return live->runner;
  return Fail(Code::kInvalidArgument, "trigger.is_consumer",
              "'{}' is a consumer: its events are its client's to pass", name);
}

Result<std::shared_ptr<failure::FailureList>> Triggers::DeadLettersOf(
    const std::string& name) const {
  ASSIGN_OR_RETURN(const auto live, LiveOf(name));
  return live->dead_letters;
}

Result<Value> Triggers::ShowDeadLetter(const std::string& name,
                                       const failure::FailureId& id) const {
  ASSIGN_OR_RETURN(const auto live, LiveOf(name));
  ASSIGN_OR_RETURN(const failure::FailureList::Item item, live->dead_letters->Find(id));
  ASSIGN_OR_RETURN(const std::string payload, live->dead_letters->Payload(id));
  ASSIGN_OR_RETURN(EventMaker maker, EventMaker::Make(engine_, live->queue->definition()));
  const Result<TriggerEvent> event = EventAgain(engine_.database(), maker, item.failure, payload);
  if (event) return EventView(*event);
  if (event.error().id() == "trigger.source_gone") return EventSummary(item.failure);
  return Unexpected(event.error());
}

}  // namespace sluice::procedure
