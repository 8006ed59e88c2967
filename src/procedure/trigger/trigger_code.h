// A trigger's procedure, ready to run for events: its Lua state, and the session of its `db`
// object. The next run gets a new Lua state when the last one has used up its limits, and when the
// procedure has a new version.
//
// Concurrency: the trigger's thread, except Stop, Interrupt and EndRunIn, which any thread may
// call.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/locked.h"
#include "base/status.h"
#include "db/transaction.h"
#include "follow/shard_gate.h"
#include "lua/runtime.h"
#include "procedure/session.h"
#include "procedure/store.h"
#include "procedure/trigger/event.h"
#include "query/engine.h"

namespace sluice::procedure {

// trigger.shard_lost
Status TriggerShardLost(db::ShardId shard);

class TriggerCode {
 public:
  // The engine and the store must outlive it.
  TriggerCode(query::QueryEngine& engine, const Store& store, std::string name, lua::Limits limits)
      : engine_(engine), store_(store), name_(std::move(name)), limits_(limits) {}

  // Calls main(event). The statements of main run in the transaction, and the caller undoes them
  // after an error. The tenure is that of the caller's pass for the event's shard. Errors: the
  // procedure's own; trigger.returned when main returned something else than 0;
  // trigger.interrupted, trigger.stopping, and trigger.shard_lost when the tenure is over.
  Status Run(const TriggerEvent& event, db::Transaction& transaction, const follow::Tenure& tenure);

  // The next run looks for a new version of the procedure.
  void LookForNewProgram() { look_ = true; }
  // Of the last run; null before the first one.
  const std::shared_ptr<const lua::Program>& program() const { return program_; }
  // Whether the procedure has another version now.
  bool HasOtherThan(const std::shared_ptr<const lua::Program>& program) const;

  // Ends the run that is under way, and all later ones.
  void Stop();
  bool stopped() const { return stopped_.load(); }
  // Ends the run that is under way if it is for this event or a later one of its shard; any run if
  // the id is empty.
  void Interrupt(const std::string& event_id);
  // Ends the run that is under way if it is for an event of this shard, whose tenure is over.
  void EndRunIn(db::ShardId shard);

 private:
  Status EnsureRuntime();

  query::QueryEngine& engine_;
  const Store& store_;
  const std::string name_;
  const lua::Limits limits_;

  // These belong to the trigger's thread.
  std::shared_ptr<const lua::Program> program_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<lua::Runtime> runtime_;
  bool look_ = true;  // for a new version of the procedure, before the next run

  std::atomic<bool> stopped_ = false;
  struct Running {
    lua::Runtime* runtime = nullptr;  // null while no call is under way
    std::string event_id;             // of the call
    db::ShardId shard = 0;            // of the event
    bool interrupted = false;         // by an operator; the runtime runs nothing more
    // The statements of this runtime look at it.
    std::shared_ptr<std::atomic<bool>> cancelled;

    void End();
  };
  Locked<Running> running_;
};

}  // namespace sluice::procedure
