#include "follow/shard_gate.h"

namespace sluice::follow {

void ShardGate::Open(db::ShardId shard) {
  auto tenure = std::make_shared<Tenure>();
  (*shards_.Lock())[shard].tenure = std::move(tenure);
}

void ShardGate::Close(db::ShardId shard) {
  const auto shards = shards_.Lock();
  State& state = (*shards)[shard];
  if (state.tenure != nullptr) state.tenure->over_ = true;
  state.tenure = nullptr;
}

void ShardGate::AwaitEmpty(db::ShardId shard) {
  while (true) {
    const uint64_t seen = emptied_.news();
    if ((*shards_.Lock())[shard].inside == 0) return;
    emptied_.Wait(seen);
  }
}

std::optional<ShardGate::Pass> ShardGate::Enter(db::ShardId shard) {
  const auto shards = shards_.Lock();
  const auto found = shards->find(shard);
  if (found == shards->end() || found->second.tenure == nullptr) return std::nullopt;
  ++found->second.inside;
  return Pass(this, shard, found->second.tenure);
}

void ShardGate::Leave(db::ShardId shard) {
  bool awaited = false;
  {
    const auto shards = shards_.Lock();
    State& state = (*shards)[shard];
    awaited = --state.inside == 0 && state.tenure == nullptr;
  }
  if (awaited) emptied_.Wake();
}

}  // namespace sluice::follow
