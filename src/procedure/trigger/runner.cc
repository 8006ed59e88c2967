#include "procedure/trigger/runner.h"

#include <algorithm>
#include <utility>

namespace sluice::procedure {

std::string_view StateName(TriggerProgress::State state) {
  static constexpr std::string_view kNames[] = {"waiting", "running", "failing", "held", "stopped"};
  return kNames[static_cast<size_t>(state)];
}

TriggerRunner::TriggerRunner(query::QueryEngine& engine, const Store& store,
                             std::shared_ptr<LiveQueue> queue,
                             std::shared_ptr<failure::FailureList> dead_letters, lua::Limits limits)
    : engine_(engine),
      queue_(std::move(queue)),
      dead_letters_(std::move(dead_letters)),
      name_(queue_->definition()->name),
      code_(engine, store, name_, limits) {}

TriggerRunner::~TriggerRunner() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void TriggerRunner::Start() {
  thread_ = Thread({"trigger", name_}, [this] { Loop(); });
}

void TriggerRunner::Stop() {
  code_.Stop();
  queue_->signal().Wake();
}

void TriggerRunner::EndRunIn(db::ShardId shard) { code_.EndRunIn(shard); }

void TriggerRunner::Loop() {
  while (!ending() && Step()) {
  }
  runners_.clear();
  RefuseCommands();
  progress_.Lock()->state = TriggerProgress::State::kStopped;
}

bool TriggerRunner::Step() {
  Signal& signal = queue_->signal();
  const uint64_t seen = signal.news();
  TakeDefinition(queue_->definition());
  RunCommands();
  if (definition_->held) {
    progress_.Lock()->state = TriggerProgress::State::kHeld;
    signal.Wait(seen);
    return true;
  }
  const Round round = StepShards();
  if (round.ended) return false;
  if (round.worked) return true;
  SetIdleState();
  signal.Wait(seen, round.until);
  return true;
}

void TriggerRunner::TakeDefinition(std::shared_ptr<const TriggerDefinition> definition) {
  if (definition == definition_) return;
  definition_ = std::move(definition);
  shards_ = ShardsOf(*definition_, engine_.database().shard_count());
  std::erase_if(runners_, [&](const auto& runner) {
    return !std::ranges::binary_search(shards_, runner.first);
  });
  for (const auto& [shard, runner] : runners_) runner->Forget();
}

bool TriggerRunner::interrupted() const {
  return ending() || HasCommands() || queue_->definition() != definition_;
}

TriggerRunner::Round TriggerRunner::StepShards() {
  using State = ShardRunner::Stepped::State;
  Round round;
  for (size_t i = 0; i < shards_.size(); ++i) {
    if (interrupted()) return {.worked = true};
    const db::ShardId shard = shards_[turn_++ % shards_.size()];
    const auto pass = queue_->gate().Enter(shard);
    if (!pass) {
      runners_.erase(shard);
      continue;
    }
    const ShardRunner::Stepped stepped = RunnerIn(*pass).Step();
    if (stepped.state == State::kWorked) {
      round.worked = true;
    } else if (stepped.state == State::kEnded) {
      // The trigger was dropped, or created again with the same name.
      if (!pass->tenure()->over()) return {.ended = true};
      runners_.erase(shard);
    } else if (stepped.until) {
      round.until = std::min(round.until.value_or(*stepped.until), *stepped.until);
    }
  }
  return round;
}

ShardRunner& TriggerRunner::RunnerIn(const follow::ShardGate::Pass& pass) {
  std::unique_ptr<ShardRunner>& runner = runners_[pass.shard()];
  if (runner == nullptr || runner->tenure() != pass.tenure()) {
    runner.reset();
    runner =
        std::make_unique<ShardRunner>(ShardRunner::Shared{.engine = engine_,
                                                          .name = name_,
                                                          .code = code_,
                                                          .progress = progress_,
                                                          .definition = definition_,
                                                          .ending = [this] { return ending(); }},
                                      pass);
  }
  return *runner;
}

void TriggerRunner::SetIdleState() {
  const auto progress = progress_.Lock();
  progress->state = progress->failing.empty() ? TriggerProgress::State::kWaiting
                                              : TriggerProgress::State::kFailing;
}

}  // namespace sluice::procedure
