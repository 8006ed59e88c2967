#include "follow/lane_worker.h"

#include <iterator>
#include <utility>

#include "base/check.h"

namespace sluice::follow {

LaneWorker::LaneWorker(Parts parts)
    : parts_(std::move(parts)),
      runner_({.processor = parts_.processor,
               .failures = parts_.failures,
               .sink = parts_.sink,
               .clock = parts_.clock,
               .stopping = [this] { return stopping(); },
               .turns = &parts_.turns}) {
  thread_ = Thread(parts_.name, [this] { Loop(); });
}

LaneWorker::~LaneWorker() { Stop(); }

void LaneWorker::RequestStop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  parts_.processor.RequestStop();
  wake_.NotifyOne();
}

void LaneWorker::Stop() {
  RequestStop();
  if (thread_.joinable()) thread_.join();
  // The next start reads the dropped events again.
  Events dropped;
  {
    const MutexLock lock(mutex_);
    for (std::deque<EventPtr>* const events : {&queue_, &aside_}) {
      std::move(events->begin(), events->end(), std::back_inserter(dropped));
      events->clear();
    }
    queued_bytes_ = 0;
    offered_ = 0;
  }
  if (!dropped.empty()) parts_.processor.LetGo(dropped);
}

bool LaneWorker::Offer(EventPtr& event) {
  const MutexLock lock(mutex_);
  if (!event->from_log) {
    if (offered_ >= kMostOffered) return false;
    ++offered_;
  } else if (queue_.size() + aside_.size() - offered_ >= kMostQueued ||
             (!queue_.empty() && queued_bytes_ + event->bytes > kMostQueuedBytes)) {
    return false;
  }
  queued_bytes_ += event->bytes;
  queue_.push_back(std::move(event));
  if (queue_.size() == 1) wake_.NotifyOne();
  return true;
}

bool LaneWorker::idle() const {
  const MutexLock lock(mutex_);
  return queue_.empty() && !lent_lane_ && !busy_;
}

void LaneWorker::Loop() {
  while (true) {
    const Events events = Take();
    if (events.empty() || !Process(events)) return;
    {
      const MutexLock lock(mutex_);
      busy_ = false;
    }
    parts_.drained();
  }
}

bool LaneWorker::Process(const Events& events) {
  std::span<const EventPtr> left = events;
  while (!left.empty()) {
    const BatchRunner::Stepped stepped = runner_.Step(left, parts_.cursors);
    parts_.processor.LetGo(left.first(stepped.done));
    left = left.subspan(stepped.done);
    if (stepped.ended) {
      parts_.processor.LetGo(left);
      if (!stopping()) parts_.failed(stepped.why);
      return false;
    }
    if (stepped.pause.count() > 0) Pause(stepped.pause);
  }
  return true;
}

void LaneWorker::Pause(std::chrono::microseconds time) {
  const MutexLock lock(mutex_);
  wake_.WaitFor(lock, parts_.clock, time, [this] { return stopping(); });
}

// The waiting events; it does not wait for more. Empty when it is time to end.
LaneWorker::Events LaneWorker::Take() {
  Events events;
  MutexLock lock(mutex_);
  const auto news = [this]() REQUIRES(mutex_) { return stopping() || !queue_.empty(); };
  if (parts_.rest_after.count() > 0 &&
      !wake_.WaitFor(lock, parts_.clock, parts_.rest_after, news)) {
    lock.Unlock();
    parts_.processor.Rest();
    lock.Lock();
  }
  while (events.empty()) {
    wake_.Wait(lock, news);
    if (stopping()) return events;
    while (!queue_.empty() && events.size() < BatchRunner::kMostAtOnce) TakeFront(&events);
  }
  busy_ = true;
  return events;
}

// Moves the first event to the batch, unless the borrower takes it or has an event of its lane.
void LaneWorker::TakeFront(Events* events) {
  EventPtr event = std::move(queue_.front());
  queue_.pop_front();
  if (lent_lane_ == event->lane) return aside_.push_back(std::move(event));
  queued_bytes_ -= event->bytes;
  if (!event->from_log) --offered_;
  // Only the first of a batch, so that the events before it in its lane are handled; and only one
  // at a time, until GiveBack has been called for the one before.
  const uint16_t lane = event->lane;
  if (events->empty() && !lent_lane_ && parts_.borrower != nullptr &&
      parts_.borrower->Take(event, *this)) {
    lent_lane_ = lane;
    return;
  }
  events->push_back(std::move(event));
}

void LaneWorker::GiveBack(EventPtr event) {
  {
    const MutexLock lock(mutex_);
    CHECK(lent_lane_.has_value());
    lent_lane_.reset();
    queue_.insert(queue_.begin(), std::make_move_iterator(aside_.begin()),
                  std::make_move_iterator(aside_.end()));
    aside_.clear();
    if (event != nullptr) {
      queued_bytes_ += event->bytes;
      if (!event->from_log) ++offered_;
      queue_.push_front(std::move(event));
    }
    wake_.NotifyOne();
  }
  parts_.drained();
}

}  // namespace sluice::follow
