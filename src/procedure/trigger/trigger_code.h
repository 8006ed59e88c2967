// A trigger's procedure, ready to be run for events: its Lua state and what its `db` object works
// on. A run that used up its state's limits, and a new version of the procedure, get a new state.
//
// Concurrency: the trigger's thread, except Stop and Interrupt, which any thread may call.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/status.h"
#include "db/transaction.h"
#include "lua/runtime.h"
#include "procedure/session.h"
#include "procedure/store.h"
#include "procedure/trigger/event.h"
#include "query/engine.h"

namespace sluice::procedure {

class TriggerCode {
 public:
  // Both outlive it.
  TriggerCode(query::QueryEngine& engine, const Store& store, std::string name, lua::Limits limits)
      : engine_(engine), store_(store), name_(std::move(name)), limits_(limits) {}

  // Calls main(event), whose statements work in the transaction. Errors: what the procedure failed
  // with; trigger.returned when it returned something else than 0; trigger.interrupted and
  // trigger.stopping. What it has done is the caller's to undo then.
  Status Run(const TriggerEvent& event, db::Transaction& transaction);

  // The next run is one of the procedure's version at that time.
  void LookForNewProgram() { look_ = true; }
  // Whether the procedure is another one than that of the last run.
  bool has_new_program() const;

  // Ends the run that is under way, and all later ones.
  void Stop();
  bool stopped() const { return stop_->load(); }
  // Ends the run that is under way if it is of this event or of one after it; of any for an empty
  // id.
  void Interrupt(const std::string& event_id);

 private:
  Status EnsureRuntime();

  query::QueryEngine& engine_;
  const Store& store_;
  const std::string name_;
  const lua::Limits limits_;

  // Of the trigger's thread.
  std::shared_ptr<const lua::Program> program_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<lua::Runtime> runtime_;
  bool look_ = true;  // for a new version of the procedure, before the next run

  // Also ends the statement that a run waits for.
  const std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);
  std::mutex mutex_;
  lua::Runtime* running_ = nullptr;  // guarded by mutex_, while a call is under way
  std::string running_event_;        // guarded by mutex_; its id
  bool interrupted_ = false;         // guarded by mutex_; that call, or the next one, is ended
};

}  // namespace sluice::procedure
