// The runs of one flow that start by changes of a keyspace, in one shard. A run's beginning and the
// move of the flow's cursor past its change are one commit, so a change starts one run.
//
// Operation: a follower whose events run one after the other (follow/serial_follower.h). When runs
// can't start, because too many are in memory or the database can't write, it tries again after
// kPauseAfterFailure.
// Concurrency: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flow_engine/app.h"
#include "flow_engine/engine.h"
#include "follow/serial_follower.h"

namespace sluice::flow_engine {

// The follower of a flow with `on`.
inline constexpr std::string_view kFlowFollowers = "flow:";
std::string FollowerOf(const flow::Flow& flow);

// The statement that decides whether a change starts a run: the flow's filter.
std::string FilterStatement(const flow::Flow& flow);
// The start of a run of the flow.
flow::Start StartWith(const flow::Flow& flow, json::Value body);

class ChangeStarts final : private follow::Processor,
                           private follow::FailurePolicy,
                           private follow::CommitSink {
 public:
  static constexpr std::chrono::milliseconds kPauseAfterFailure{100};

  // The flow is one of the app's.
  ChangeStarts(const Services& services, Engine& engine, std::shared_ptr<const App> app,
               const flow::Flow& flow, db::ShardId shard);
  ~ChangeStarts() override;
  ChangeStarts(const ChangeStarts&) = delete;
  ChangeStarts& operator=(const ChangeStarts&) = delete;

  // Starts the runs of the changes behind the cursor, in one commit; does nothing during a pause.
  // The state is kEnded when the follower was dropped.
  follow::SerialFollower::Stepped Step();

 private:
  Result<std::unique_ptr<follow::LaneQueue>> OpenQueue();
  Result<follow::EventPtr> EventOf(const db::Change& change);
  bool Fires(const json::Value& change);
  Result<bool> Passes(const json::Value& change);

  // follow::Processor
  void Begin() override { launches_.clear(); }
  Result<Ran> Run(const follow::Event& event, Place place) override;
  bool full() const override;
  db::Commit TakeCommit() override { return {}; }
  void Committed(std::span<const follow::EventPtr>) override {}
  void Refused(const Status&) override {}
  // follow::FailurePolicy
  follow::Verdict OnTrouble(follow::Trouble trouble, const Status& status) override;
  // follow::CommitSink: starts the runs of the batch with the commit.
  Status Apply(db::Commit commit) override;

  const Services& services_;
  Engine& engine_;
  const std::shared_ptr<const App> app_;
  const flow::Flow& flow_;
  const db::ShardId shard_;
  std::shared_ptr<const query::StatementPlan> filter_;  // null: not planned yet
  std::vector<Engine::Launch> launches_;                // of the batch
  std::optional<Clock::Time> paused_until_;
  follow::SerialFollower follower_;
};

}  // namespace sluice::flow_engine
