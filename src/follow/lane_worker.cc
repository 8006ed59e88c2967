#include "follow/lane_worker.h"

#include <iterator>
#include <span>
#include <utility>

#include "base/check.h"

namespace sluice::follow {

LaneWorker::LaneWorker(Parts parts) : parts_(std::move(parts)) {
  thread_ = Thread(parts_.name, [this] { Loop(); });
}

LaneWorker::~LaneWorker() { Stop(); }

// --- shards -------------------------------------------------------------------------------------

void LaneWorker::Enter(db::ShardId shard, LaneCursors& cursors) {
  auto entered =
      std::make_unique<Shard>(shard, cursors,
                              BatchRunner::Parts{.processor = parts_.processor,
                                                 .failures = parts_.failures,
                                                 .sink = parts_.sink,
                                                 .clock = parts_.clock,
                                                 .stopping = [this] { return stopping(); },
                                                 .turns = &parts_.turns});
  const MutexLock lock(mutex_);
  CHECK(shards_.emplace(shard, std::move(entered)).second);
}

void LaneWorker::RequestLeave(db::ShardId shard) {
  Events dropped;
  {
    const MutexLock lock(mutex_);
    const auto found = shards_.find(shard);
    if (found == shards_.end()) return;
    dropped = Close(*found->second);
    // Only once: Finish makes the processor forget it.
    if (busy_ == shard && !leaving_.exchange(true)) parts_.processor.RequestStop();
  }
  wake_.NotifyOne();
  parts_.turns.Wake();
  LetGo(dropped);
}

void LaneWorker::Leave(db::ShardId shard) {
  RequestLeave(shard);
  const MutexLock lock(mutex_);
  left_.Wait(
      lock, [&]() REQUIRES(mutex_) { return busy_ != shard && !(lent_ && lent_->shard == shard); });
  shards_.erase(shard);
}

LaneWorker::Events LaneWorker::Close(Shard& shard) {
  shard.closed = true;
  Events dropped;
  Drop(shard.queue, &dropped);
  if (lent_ && lent_->shard == shard.id) Drop(aside_, &dropped);
  return dropped;
}

void LaneWorker::Drop(std::deque<EventPtr>& queue, Events* dropped) {
  for (EventPtr& event : queue) {
    --queued_;
    queued_bytes_ -= event->bytes;
    if (!event->from_log) --offered_;
    dropped->push_back(std::move(event));
  }
  queue.clear();
}

// The next start in the shard reads the dropped events again.
void LaneWorker::LetGo(const Events& dropped) {
  if (dropped.empty()) return;
  parts_.processor.LetGo(dropped);
  parts_.drained();
}

// --- the end ------------------------------------------------------------------------------------

void LaneWorker::RequestStop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  parts_.processor.RequestStop();
  parts_.turns.Wake();
  wake_.NotifyOne();
}

void LaneWorker::Stop() {
  RequestStop();
  if (thread_.joinable()) thread_.join();
  Events dropped;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, shard] : shards_) Drop(shard->queue, &dropped);
    Drop(aside_, &dropped);
  }
  if (!dropped.empty()) parts_.processor.LetGo(dropped);
}

// --- events -------------------------------------------------------------------------------------

bool LaneWorker::Offer(EventPtr& event) {
  const MutexLock lock(mutex_);
  const auto found = shards_.find(event->shard);
  if (found == shards_.end() || found->second->closed) return false;
  if (!event->from_log) {
    if (offered_ >= kMostOffered) return false;
    ++offered_;
  } else if (queued_ - offered_ >= kMostQueued ||
             (queued_ > 0 && queued_bytes_ + event->bytes > kMostQueuedBytes)) {
    return false;
  }
  queued_bytes_ += event->bytes;
  ++queued_;
  std::deque<EventPtr>& queue = found->second->queue;
  queue.push_back(std::move(event));
  if (queue.size() == 1) wake_.NotifyOne();
  return true;
}

bool LaneWorker::IdleIn(const Shard& shard) const {
  return !stopping_ && !shard.closed && shard.queue.empty() && busy_ != shard.id &&
         !(lent_ && lent_->shard == shard.id);
}

bool LaneWorker::idle() const {
  const MutexLock lock(mutex_);
  for (const auto& [id, shard] : shards_) {
    if (!IdleIn(*shard)) return false;
  }
  return true;
}

bool LaneWorker::idle(db::ShardId shard) const {
  const MutexLock lock(mutex_);
  const auto found = shards_.find(shard);
  return found != shards_.end() && IdleIn(*found->second);
}

void LaneWorker::Loop() {
  while (true) {
    const Batch batch = Take();
    if (batch.shard == nullptr) return;
    Process(batch);
    Finish();
    parts_.drained();
  }
}

void LaneWorker::Process(const Batch& batch) {
  std::span<const EventPtr> left = batch.events;
  while (!left.empty()) {
    const BatchRunner::Stepped stepped = batch.shard->runner.Step(left, batch.shard->cursors);
    parts_.processor.LetGo(left.first(stepped.done));
    left = left.subspan(stepped.done);
    if (stepped.ended) {
      Events dropped;
      const bool failed = !stopping();
      if (failed) {
        const MutexLock lock(mutex_);
        dropped = Close(*batch.shard);
      }
      parts_.processor.LetGo(left);
      LetGo(dropped);
      if (failed) parts_.failed(batch.shard->id, stepped.why);
      return;
    }
    if (stepped.pause.count() > 0) Pause(stepped.pause);
  }
}

// The batch is over, however it ended.
void LaneWorker::Finish() {
  MutexLock lock(mutex_);
  if (leaving_) {
    lock.Unlock();
    parts_.processor.ForgetStop();
    lock.Lock();
    leaving_ = false;
    // A stop that came meanwhile was forgotten, too: no batch begins any more.
  }
  busy_.reset();
  left_.NotifyAll();
}

void LaneWorker::Pause(std::chrono::microseconds time) {
  const MutexLock lock(mutex_);
  wake_.WaitFor(lock, parts_.clock, time, [this] { return stopping(); });
}

// The waiting events of a shard; it does not wait for more.
LaneWorker::Batch LaneWorker::Take() {
  Batch batch;
  MutexLock lock(mutex_);
  const auto news = [this]() REQUIRES(mutex_) { return stopping() || NextShard() != nullptr; };
  if (parts_.rest_after.count() > 0 &&
      !wake_.WaitFor(lock, parts_.clock, parts_.rest_after, news)) {
    lock.Unlock();
    parts_.processor.Rest();
    lock.Lock();
  }
  while (batch.events.empty()) {
    wake_.Wait(lock, news);
    if (stopping()) return {};
    batch.shard = NextShard();
    while (!batch.shard->queue.empty() && batch.events.size() < BatchRunner::kMostAtOnce) {
      TakeFront(*batch.shard, &batch.events);
    }
  }
  busy_ = last_ = batch.shard->id;
  return batch;
}

// The first shard after that of the last batch in which something waits.
LaneWorker::Shard* LaneWorker::NextShard() {
  Shard* first = nullptr;
  for (const auto& [id, shard] : shards_) {
    if (shard->queue.empty()) continue;
    if (id > last_) return shard.get();
    if (first == nullptr) first = shard.get();
  }
  return first;
}

// Moves the first event to the batch, unless the borrower takes it or has an event of its lane.
void LaneWorker::TakeFront(Shard& shard, Events* events) {
  EventPtr event = std::move(shard.queue.front());
  shard.queue.pop_front();
  const Lent place{shard.id, event->lane};
  if (lent_ == place) return aside_.push_back(std::move(event));
  --queued_;
  queued_bytes_ -= event->bytes;
  if (!event->from_log) --offered_;
  // Only the first of a batch, so that the events before it in its lane are handled; and only one
  // at a time, until GiveBack has been called for the one before.
  if (events->empty() && !lent_ && parts_.borrower != nullptr &&
      parts_.borrower->Take(event, *this)) {
    lent_ = place;
    return;
  }
  events->push_back(std::move(event));
}

void LaneWorker::GiveBack(EventPtr event) {
  Events dropped;
  {
    const MutexLock lock(mutex_);
    CHECK(lent_.has_value());
    Shard& shard = *shards_.at(lent_->shard);
    lent_.reset();
    if (shard.closed) {
      if (event != nullptr) dropped.push_back(std::move(event));
    } else {
      shard.queue.insert(shard.queue.begin(), std::make_move_iterator(aside_.begin()),
                         std::make_move_iterator(aside_.end()));
      aside_.clear();
      if (event != nullptr) {
        ++queued_;
        queued_bytes_ += event->bytes;
        if (!event->from_log) ++offered_;
        shard.queue.push_front(std::move(event));
      }
    }
    wake_.NotifyOne();
    left_.NotifyAll();
  }
  LetGo(dropped);
  parts_.drained();
}

}  // namespace sluice::follow
