// A trigger's procedure, ready to run for events: its Lua state, and the session of its `db`
// object. The next run gets a new Lua state when the last one has used up its limits, and when the
// procedure has a new version.
//
// Concurrency: the trigger's thread, except Stop and Interrupt, which any thread may call.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/locked.h"
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
  // The engine and the store must outlive it.
  TriggerCode(query::QueryEngine& engine, const Store& store, std::string name, lua::Limits limits)
      : engine_(engine), store_(store), name_(std::move(name)), limits_(limits) {}

  // Calls main(event). The statements of main run in the transaction, and the caller undoes them
  // after an error. Errors: the procedure's own; trigger.returned when main returned something else
  // than 0; trigger.interrupted and trigger.stopping.
  Status Run(const TriggerEvent& event, db::Transaction& transaction);

  // The next run looks for a new version of the procedure.
  void LookForNewProgram() { look_ = true; }
  // Whether the procedure has another version than the last run had.
  bool has_new_program() const;

  // Ends the run that is under way, and all later ones.
  void Stop();
  bool stopped() const { return stop_->load(); }
  // Ends the run that is under way if it is for this event or a later one; any run if the id is
  // empty.
  void Interrupt(const std::string& event_id);

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

  // A statement that runs for the procedure looks at it, too.
  const std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);
  struct Running {
    lua::Runtime* runtime = nullptr;  // null while no call is under way
    std::string event_id;             // of the call
    bool interrupted = false;         // this call was ended by Interrupt, or the next one will be
  };
  Locked<Running> running_;
};

}  // namespace sluice::procedure
