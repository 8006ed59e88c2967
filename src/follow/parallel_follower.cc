#include "follow/parallel_follower.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace sluice::follow {

ParallelFollower::ParallelFollower(Options options)
    : options_(std::move(options)), signal_(options_.clock) {
  CHECK(!options_.workers.empty());
  for (const Code& code : options_.workers) {
    workers_.push_back(std::make_unique<LaneWorker>(LaneWorker::Parts{
        .name = options_.worker_name,
        .processor = code.processor,
        .failures = code.failures,
        .sink = options_.sink,
        .turns = turns_,
        .clock = options_.clock,
        .borrower = options_.borrower,
        .rest_after = options_.rest_after,
        .drained = [this] { Wake(); },
        .failed = [this](db::ShardId shard, const Status& status) { Fail(shard, status); }}));
  }
  thread_ = Thread(options_.reader_name, [this] { Loop(); });
}

ParallelFollower::~ParallelFollower() { Stop(); }

// --- shards -------------------------------------------------------------------------------------

Status ParallelFollower::Follow(std::unique_ptr<Source> source) {
  ASSIGN_OR_RETURN(std::unique_ptr<LaneFeed> feed,
                   LaneFeed::Open(std::move(source), options_.rules));
  for (const auto& worker : workers_) worker->Enter(feed->shard(), feed->cursors());
  {
    const MutexLock lock(mutex_);
    const db::ShardId shard = feed->shard();
    CHECK(feeds_.emplace(shard, std::move(feed)).second);
  }
  Wake();
  return OkStatus();
}

void ParallelFollower::RequestLeave(db::ShardId shard) {
  {
    const MutexLock lock(mutex_);
    const auto found = feeds_.find(shard);
    if (found == feeds_.end()) return;
    found->second->End();
  }
  for (const auto& worker : workers_) worker->RequestLeave(shard);
  Wake();  // the reader, which may wait for room
}

void ParallelFollower::Leave(db::ShardId shard) {
  RequestLeave(shard);
  {
    const MutexLock lock(mutex_);
    read_.Wait(lock, [&]() REQUIRES(mutex_) { return reading_ != shard; });
  }
  for (const auto& worker : workers_) worker->Leave(shard);
  std::unique_ptr<LaneFeed> left;  // ends after the lock is released
  {
    const MutexLock lock(mutex_);
    if (auto node = feeds_.extract(shard)) left = std::move(node.mapped());
  }
  Wake();  // it may have caught up now
}

// Also of a shard that is being left; then nobody is told.
void ParallelFollower::Fail(db::ShardId shard, const Status& status) {
  {
    const MutexLock lock(mutex_);
    const auto found = feeds_.find(shard);
    if (found == feeds_.end() || !found->second->End()) return;
  }
  Wake();  // the reader, which may wait for room
  if (options_.failed) options_.failed(shard, status);
}

LaneCursors& ParallelFollower::cursors(db::ShardId shard) const {
  const MutexLock lock(mutex_);
  return feeds_.at(shard)->cursors();
}

void ParallelFollower::WakeFor(std::span<const db::KeyspaceId> keyspaces, CommitWake& commits) {
  subscription_ = commits.Subscribe(keyspaces, [this] { Wake(); });
  Wake();  // for earlier commits
}

// --- the end ------------------------------------------------------------------------------------

void ParallelFollower::RequestStop() {
  signal_.Close();
  for (const auto& worker : workers_) worker->RequestStop();
}

void ParallelFollower::Stop() {
  subscription_.reset();
  RequestStop();
  if (thread_.joinable()) thread_.join();
  for (const auto& worker : workers_) worker->Stop();
}

bool ParallelFollower::caught_up() const {
  if (!WorkersIdle()) return false;  // an offered event may run
  const uint64_t with = caught_up_with_;
  return with != kNotCaughtUp && with == signal_.news();
}

bool ParallelFollower::WorkersIdle() const {
  return std::ranges::all_of(workers_, [](const auto& worker) { return worker->idle(); });
}

bool ParallelFollower::WorkersIdleIn(db::ShardId shard) const {
  return std::ranges::all_of(workers_, [&](const auto& worker) { return worker->idle(shard); });
}

// --- the reader ---------------------------------------------------------------------------------

void ParallelFollower::Loop() {
  while (true) {
    const uint64_t seen = signal_.news();
    caught_up_with_ = kNotCaughtUp;
    Pump();
    if (signal_.closed()) return;
    places_stored_ = true;
    StorePlaces();
    if (WorkersIdle() && GoesOnInAll()) {
      caught_up_with_ = seen;
      if (options_.handled_all) options_.handled_all();
    }
    Signal::Deadline deadline;
    if (!places_stored_) deadline = options_.clock.Now() + LaneFeed::kStoreInterval;
    if (signal_.Wait(seen, deadline) == Signal::Waited::kClosed) return;
  }
}

bool ParallelFollower::GoesOnInAll() const {
  const MutexLock lock(mutex_);
  return std::ranges::none_of(feeds_, [](const auto& feed) { return feed.second->ended(); });
}

// Reads until there is nothing new in any shard.
void ParallelFollower::Pump() {
  bool more = true;
  while (more && !signal_.closed()) {
    more = false;
    ForEachFeed([&](LaneFeed& feed) -> Status {
      const auto deliver = [&](EventPtr event) { return Deliver(feed, std::move(event)); };
      ASSIGN_OR_RETURN(const size_t read, feed.Read(kReadAtOnce, deliver));
      more = more || read > 0;
      return OkStatus();
    });
  }
}

// In the shards in which nothing runs or waits.
void ParallelFollower::StorePlaces() {
  ForEachFeed([&](LaneFeed& feed) {
    const Status stored = WorkersIdleIn(feed.shard())
                              ? feed.StorePlaces(options_.sink, options_.clock.Now())
                              : OkStatus();
    places_stored_ = places_stored_ && feed.places_stored();
    return stored;
  });
}

// The shards that are followed, one after the other. An error ends the follower's work there.
void ParallelFollower::ForEachFeed(const std::function<Status(LaneFeed&)>& visit) {
  std::optional<db::ShardId> last;
  while (LaneFeed* const feed = BeginReadingAfter(last)) {
    last = feed->shard();
    const Status status = visit(*feed);
    if (!status.ok()) Fail(feed->shard(), status);
    EndReading();
  }
}

LaneFeed* ParallelFollower::BeginReadingAfter(std::optional<db::ShardId> last) {
  if (signal_.closed()) return nullptr;
  const MutexLock lock(mutex_);
  auto next = last ? feeds_.upper_bound(*last) : feeds_.begin();
  while (next != feeds_.end() && next->second->ended()) ++next;
  if (next == feeds_.end()) return nullptr;
  reading_ = next->first;
  return next->second.get();
}

void ParallelFollower::EndReading() {
  const MutexLock lock(mutex_);
  reading_.reset();
  read_.NotifyAll();
}

// Waits while the worker has no room. False when it is time to end, or to leave the shard; then the
// event is dropped.
bool ParallelFollower::Deliver(LaneFeed& feed, EventPtr event) {
  LaneWorker& worker = WorkerOf(event->lane);
  while (true) {
    const uint64_t seen = signal_.news();
    if (feed.ended()) break;
    if (worker.Offer(event)) return true;
    if (signal_.Wait(seen) == Signal::Waited::kClosed) break;
  }
  options_.workers[event->lane % workers_.size()].processor.LetGo({&event, 1});
  return false;
}

}  // namespace sluice::follow
