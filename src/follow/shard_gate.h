// The shards in which the threads of a tenant (db/ownership.h) may work. A thread passes the gate
// of a shard before it works there, and holds the pass until it has done so.
//
//   if (const auto pass = gate.Enter(shard)) { ... read, run, commit ... }
//
// Operation: Open lets threads into a shard. Close lets no more in and tells those inside, and
// AwaitEmpty waits until they have left. What takes long looks at the pass's tenure, or is ended by
// whoever closes the gate. Each time that a gate is open is a tenure of its own: what was read in
// an earlier one may no longer be so, because another server may have worked in the shard since.
// Concurrency: any thread; Open, Close and AwaitEmpty of one shard by one thread at a time. The
// gate outlives its passes.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/locked.h"
#include "base/signal.h"
#include "db/types.h"

namespace sluice::follow {

// The time from one Open of a gate to the next Close.
class Tenure {
 public:
  bool over() const { return over_.load(); }

 private:
  friend class ShardGate;
  std::atomic<bool> over_ = false;
};

class ShardGate {
 public:
  using TenurePtr = std::shared_ptr<const Tenure>;

  class Pass {
   public:
    Pass(Pass&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)),
          shard_(other.shard_),
          tenure_(std::move(other.tenure_)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->Leave(shard_);
    }

    db::ShardId shard() const { return shard_; }
    const TenurePtr& tenure() const { return tenure_; }

   private:
    friend class ShardGate;
    Pass(ShardGate* gate, db::ShardId shard, TenurePtr tenure)
        : gate_(gate), shard_(shard), tenure_(std::move(tenure)) {}

    ShardGate* gate_;  // null: it was moved from
    db::ShardId shard_;
    TenurePtr tenure_;
  };

  void Open(db::ShardId shard);
  // From now on nobody enters. Those inside see that their tenure is over.
  void Close(db::ShardId shard);
  // After Close: returns when nobody is inside.
  void AwaitEmpty(db::ShardId shard);

  // None: the gate is closed.
  std::optional<Pass> Enter(db::ShardId shard);

 private:
  struct State {
    std::shared_ptr<Tenure> tenure;  // null: closed
    size_t inside = 0;
  };
  void Leave(db::ShardId shard);

  Locked<std::map<db::ShardId, State>> shards_;
  Signal emptied_;
};

}  // namespace sluice::follow
