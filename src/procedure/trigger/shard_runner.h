// Runs a trigger's procedure for the events of one shard, in order.
//
// Operation: a follower whose events run one after the other (follow/serial_follower.h) gives it
// batches. The writes of all runs of a batch and the cursor's move past their events are one
// commit, whose home is the shard. A run that fails is undone alone and tried again without end,
// after growing pauses. Later events of the shard wait for it, because a trigger sees changes in
// their order.
// Concurrency: the trigger's thread, which has a pass for the shard in every call. A runner belongs
// to one tenure of the shard: it reads the stored cursor once.
// Bounds: those of follow/batch_runner.h, and kMostWrites and kMostBytes in a commit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/locked.h"
#include "db/transaction.h"
#include "follow/serial_follower.h"
#include "follow/shard_gate.h"
#include "procedure/trigger/progress.h"
#include "procedure/trigger/trigger_code.h"
#include "query/engine.h"

namespace sluice::procedure {

class ShardRunner final : private follow::Processor, private follow::FailurePolicy {
 public:
  using Stepped = follow::SerialFollower::Stepped;
  // What the runners of one trigger share. All outlives them.
  struct Shared {
    query::QueryEngine& engine;
    const std::string& name;
    TriggerCode& code;
    Locked<TriggerProgress>& progress;
    const std::shared_ptr<const TriggerDefinition>& definition;  // the present one
    std::function<bool()> ending;
  };
  ShardRunner(const Shared& shared, const follow::ShardGate::Pass& pass);
  ~ShardRunner() override;
  ShardRunner(const ShardRunner&) = delete;
  ShardRunner& operator=(const ShardRunner&) = delete;

  const follow::ShardGate::TenurePtr& tenure() const { return tenure_; }

  // As SerialFollower::Step. During a pause after a failure it does nothing, unless the procedure
  // has a new version.
  Stepped Step();
  // After a change of the trigger's definition: the next step reads again and does not pause.
  void Forget();

  // The events that wait, for a caller that looks at the head or passes it. Nothing in it counts as
  // taken.
  Result<follow::LaneQueue*> Queue() { return follower_.Queue(); }
  // The event at the head was committed, or passed.
  void HeadPassed();

 private:
  // follow::Processor
  void Begin() override;
  Result<Ran> Run(const follow::Event& event, Place place) override;
  bool full() const override;
  db::Commit TakeCommit() override;
  void Committed(std::span<const follow::EventPtr> events) override;
  void Refused(const Status& status) override;
  // follow::FailurePolicy
  follow::Verdict OnTrouble(follow::Trouble trouble, const Status& status) override;

  std::string HeadId();
  void NoteFailure(const Status& status, std::chrono::milliseconds pause);

  const Shared shared_;
  const db::ShardId shard_;
  const follow::ShardGate::TenurePtr tenure_;
  follow::DatabaseSink sink_;
  follow::GrowingPauses pauses_;
  std::optional<db::Transaction> transaction_;  // of the batch
  follow::SerialFollower follower_;
  std::optional<Clock::Time> paused_until_;
  std::shared_ptr<const lua::Program> failed_program_;  // that made it pause
};

}  // namespace sluice::procedure
