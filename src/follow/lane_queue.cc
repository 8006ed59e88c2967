#include "follow/lane_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace sluice::follow {

Result<std::unique_ptr<LaneQueue>> LaneQueue::Open(std::unique_ptr<Source> source, MakeEvent make) {
  std::unique_ptr<LaneQueue> queue(new LaneQueue(std::move(source), std::move(make)));
  RETURN_IF_ERROR(queue->Reload());
  return queue;
}

Status LaneQueue::Reload() {
  ASSIGN_OR_RETURN(stored_, source_->Stored(0));
  RETURN_IF_ERROR(source_->Open(stored_));
  events_.clear();
  first_ = 0;
  taken_ = 0;
  at_end_ = false;
  broken_ = false;
  read_ = stored_;
  return OkStatus();
}

Result<const Event*> LaneQueue::Next() {
  if (taken_ == waiting() || broken_) RETURN_IF_ERROR(ReadMore());
  return taken_ < waiting() ? events_[first_ + taken_].get() : nullptr;
}

// The end of the log is looked at again only when nothing waits, so that each batch costs one look
// at most.
Result<std::span<const EventPtr>> LaneQueue::Peek(size_t most) {
  if (waiting() == 0 || broken_ || (waiting() < most && !at_end_)) RETURN_IF_ERROR(ReadMore());
  return std::span<const EventPtr>(events_).subspan(first_, std::min(most, waiting()));
}

void LaneQueue::NotePlace() {
  const uint64_t events = read_.events;
  read_ = source_->place();
  read_.events = events;
}

// Until there is a new event, or the log's end.
Status LaneQueue::ReadMore() {
  // The source is behind the change that could not be made an event.
  if (broken_) RETURN_IF_ERROR(Reload());
  const size_t before = waiting();
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
  size_t bytes = 0;
  Status failed;
  const auto visit = [&](const db::Change& change) {
    Result<EventPtr> event = make_(change, source_->place());
    if (!event) {
      failed = event.error();
      return false;
    }
    NotePlace();
    if (*event != nullptr) {
      (*event)->shard = source_->shard();
      (*event)->after = source_->place();
      if (!(*event)->after.backfilling) (*event)->after.position = change.position();
      (*event)->after.events = ++read_.events;
      bytes += (*event)->bytes;
      events_.push_back(std::move(*event));
    }
    return bytes < kMostBytesRead;
  };
  while (true) {
    ASSIGN_OR_RETURN(const size_t given, source_->Read(kReadAtOnce, visit));
    if (!failed.ok()) {
      broken_ = true;
      return failed;
    }
    NotePlace();
    at_end_ = given < kReadAtOnce && bytes < kMostBytesRead;
    if (given == 0 || waiting() > before) return OkStatus();
  }
}

db::CursorState LaneQueue::After(size_t count) const {
  if (count == waiting()) return read_;
  return count == 0 ? stored_ : events_[first_ + count - 1]->after;
}

db::CursorMove LaneQueue::Move(size_t count) const {
  CHECK(count <= waiting());
  return {source_->cursor(0), stored_, After(count)};
}

void LaneQueue::Committed(size_t count) {
  CHECK(count <= waiting());
  stored_ = After(count);
  for (size_t i = 0; i < count; ++i) events_[first_ + i].reset();
  first_ += count;
  taken_ -= std::min(taken_, count);
}

}  // namespace sluice::follow
