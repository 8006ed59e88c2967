// A follower whose events run side by side, in any number of shards: a function. Events of one lane
// of a shard (for example, of one key) run one after the other, in the order of the log.
//
// Operation: a thread reads the logs of the shards in turn and gives the events to the workers, by
// lane; a worker serves its lanes of all shards. Each lane has a cursor of its own in each shard,
// so the number of workers can change from one start to the next. Concurrency: any thread. WakeFor
// and Stop: one thread at a time; Follow and Leave: one thread at a time, and not during Stop.
// Leave and Stop return when no event runs any more, within the time that the processor takes to
// end a run and its commit. Bounds: those of LaneWorker, for all shards together. The reader waits
// for room in a worker's queue, so that a slow follower holds no more in memory than its queues.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "base/signal.h"
#include "base/thread.h"
#include "follow/commit_wake.h"
#include "follow/lane_feed.h"
#include "follow/lane_worker.h"
#include "follow/source.h"

namespace sluice::follow {

class ParallelFollower {
 public:
  static constexpr size_t kReadAtOnce = 1024;  // of a shard, before the next one has its turn

  // The code of one worker.
  struct Code {
    Processor& processor;
    FailurePolicy& failures;
  };
  // All that is referred to outlives the follower.
  struct Options {
    CommitSink& sink;
    LaneFeed::Rules rules;
    std::vector<Code> workers;
    ThreadName reader_name;
    ThreadName worker_name;
    // Called on a thread that must not wait for this object, when the follower can't go on in a
    // shard; once for each Follow.
    std::function<void(db::ShardId shard, const Status& status)> failed;
    // Called on the reader's thread each time the follower has caught up; may be empty.
    std::function<void()> handled_all;
    Borrower* borrower = nullptr;
    std::chrono::milliseconds rest_after{};  // of an idle worker; 0: never
    const Clock& clock = MachineClock();
  };
  // It follows no shard yet.
  explicit ParallelFollower(Options options);
  ~ParallelFollower();  // Stop
  ParallelFollower(const ParallelFollower&) = delete;
  ParallelFollower& operator=(const ParallelFollower&) = delete;

  // Follows the source's shard, too, from its stored cursors on. Error cursor.not_found when there
  // is no such follower.
  Status Follow(std::unique_ptr<Source> source);
  // Ends the runs of the shard's events; no other one begins. Does not wait.
  void RequestLeave(db::ShardId shard);
  // The same, and waits. The shard may be followed again afterwards. One that is not followed is
  // left alone.
  void Leave(db::ShardId shard);

  // From now on commits to these keyspaces wake it, and to no others.
  void WakeFor(std::span<const db::KeyspaceId> keyspaces, CommitWake& commits);
  void Wake() { signal_.Wake(); }
  // Gives an event that is not from the log to the worker of its lane. False when that has no room,
  // or the event's shard is not followed: the event was not taken.
  bool Offer(EventPtr& event) { return WorkerOf(event->lane).Offer(event); }

  // Ends the current runs. Does not wait.
  void RequestStop();
  void Stop();
  // Whether all commits so far are handled in all shards that it follows, and nothing runs.
  bool caught_up() const;

  // For the borrower, while it has an event of the shard: its lane there.
  LaneCursors& cursors(db::ShardId shard) const;

 private:
  void Loop();
  void Pump();
  void StorePlaces();
  void ForEachFeed(const std::function<Status(LaneFeed&)>& visit);
  LaneFeed* BeginReadingAfter(std::optional<db::ShardId> last);
  void EndReading();
  bool Deliver(LaneFeed& feed, EventPtr event);
  void Fail(db::ShardId shard, const Status& status);
  LaneWorker& WorkerOf(uint16_t lane) { return *workers_[lane % workers_.size()]; }
  bool GoesOnInAll() const;
  bool WorkersIdle() const;
  bool WorkersIdleIn(db::ShardId shard) const;

  const Options options_;
  Signal signal_;  // closed when it has to end
  CommitWake::Subscription subscription_;
  Turns turns_;
  // The count of wakes up to which everything is handled.
  static constexpr uint64_t kNotCaughtUp = UINT64_MAX;
  std::atomic<uint64_t> caught_up_with_ = kNotCaughtUp;
  bool places_stored_ = false;  // in all shards; the reader's

  mutable Mutex mutex_;
  CondVar read_;  // the reader is done with a shard
  std::map<db::ShardId, std::unique_ptr<LaneFeed>> feeds_ GUARDED_BY(mutex_);
  std::optional<db::ShardId> reading_ GUARDED_BY(mutex_);  // the feed that the reader uses

  std::vector<std::unique_ptr<LaneWorker>>
      workers_;  // end before the feeds, whose cursors they use
  Thread thread_;
};

}  // namespace sluice::follow
