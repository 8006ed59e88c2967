#include "procedure/trigger/event_queue.h"

#include <utility>

#include "db/database.h"

namespace sluice::procedure {
namespace {

constexpr size_t kReadAtOnce = 512;
constexpr size_t kMaxBytesRead = 16ull << 20;

}  // namespace

EventQueue::EventQueue(query::QueryEngine& engine,
                       std::shared_ptr<const TriggerDefinition> definition, EventMaker maker)
    : engine_(&engine),
      definition_(std::move(definition)),
      follower_(FollowerOf(definition_->name)),
      maker_(std::move(maker)) {}

Result<EventQueue> EventQueue::Open(query::QueryEngine& engine,
                                    std::shared_ptr<const TriggerDefinition> definition) {
  ASSIGN_OR_RETURN(EventMaker maker, EventMaker::Make(engine, definition));
  EventQueue queue(engine, std::move(definition), std::move(maker));
  RETURN_IF_ERROR(queue.Reload());
  return queue;
}

Status EventQueue::Reload() {
  const db::Database& database = engine_->database();
  ASSIGN_OR_RETURN(stored_, database.followers().ReadCursor({follower_, 0, 0}));
  ASSIGN_OR_RETURN(feed_, db::Feed::OfFollower(database, 0, follower_, stored_));
  events_.clear();
  taken_ = 0;
  read_ = stored_;
  return OkStatus();
}

Result<const TriggerEvent*> EventQueue::Next() {
  if (taken_ == events_.size()) RETURN_IF_ERROR(ReadMore());
  return taken_ < events_.size() ? &events_[taken_] : nullptr;
}

void EventQueue::Take() { ++taken_; }

// Until there is an event, or the log's end.
Status EventQueue::ReadMore() {
  size_t bytes = 0;
  Status failed;
  const auto visit = [&](const db::Change& change) {
    auto event = maker_.EventOf(change);
    if (!event) {
      failed = event.error();
      return false;
    }
    read_.position = feed_->state().position;
    if (event->has_value()) {
      (*event)->after = feed_->state();
      (*event)->after.position = change.position();
      (*event)->after.events = ++read_.events;
      bytes += (*event)->bytes;
      events_.push_back(std::move(**event));
    }
    return bytes < kMaxBytesRead;
  };
  while (true) {
    ASSIGN_OR_RETURN(const size_t given, feed_->Read(kReadAtOnce, visit));
    RETURN_IF_ERROR(failed);
    read_.position = feed_->state().position;
    if (given == 0 || taken_ < events_.size()) return OkStatus();
  }
}

db::CursorState EventQueue::After(size_t count) const {
  if (count == events_.size()) return read_;
  return count == 0 ? stored_ : events_[count - 1].after;
}

db::CursorMove EventQueue::Move(size_t count) const {
  return {{follower_, 0, 0}, stored_, After(count)};
}

void EventQueue::Committed(size_t count) {
  stored_ = After(count);
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(count));
  taken_ -= count;
}

}  // namespace sluice::procedure
