// The place where a trial is played: a database in a temporary directory, which goes with the
// stage, a clock that only the trial moves, and the functions of a server.
//
// One thread; the function runs on threads of its own, as on a server.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/signal.h"
#include "base/status.h"
#include "db/database.h"
#include "function/manager.h"
#include "function/trial/canned_http.h"
#include "function/trial/trial.h"
#include "query/engine.h"

namespace sluice::function::trial {

class Stage {
 public:
  // Makes the keyspaces of the definition and of the trial. The trial outlives the stage.
  static Result<std::unique_ptr<Stage>> Set(const Trial& trial, const Definition& definition);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  Status Deploy(const Definition& definition);

  // Each returns when the function has handled the step and everything that follows from it.
  Status Do(const Put& put);
  Status Do(const Delete& deletion);
  // Moves the clock from one due timer, retry or expiring document to the next, so that each has
  // its own time.
  Status Do(const Advance& advance);

  // The state now.
  Result<json::Value> Documents(const db::KeyspaceName& keyspace) const;  // by key
  Result<json::Value> Timers() const;
  // The errors of the events that failed and have not succeeded since.
  Result<std::vector<std::string>> Failures() const;
  // The function's log, oldest line first, without times.
  Result<std::vector<std::string>> Log() const;
  Result<json::Value> Statistics() const { return manager_->StatisticsOf(function_); }
  const CannedHttp& http() const { return http_; }

 private:
  explicit Stage(const Trial& trial) : clock_(trial.now_ms), http_(trial.http) {}
  Status Open(const Trial& trial, const Definition& definition);
  Status MakeKeyspace(const db::KeyspaceName& name);
  Status Store(const Put& put);
  Status SetTime(uint64_t wall_ms);
  Result<db::KeyspaceId> KeyspaceOf(const std::optional<db::KeyspaceName>& given) const;
  // The first timer from this time on, the function's own or one that tries an event again;
  // UINT64_MAX if there is none.
  Result<uint64_t> FirstTimerMs(uint64_t from_ms) const;
  Status Settle();
  // Makes a commit and returns its number. Listeners have heard of all commits before it.
  Result<db::Sequence> Mark();
  Result<bool> AtRest() const;

  SteppedClock clock_;
  CannedHttp http_;
  Signal progress_;  // of the function
  std::filesystem::path directory_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<query::QueryEngine> queries_;
  std::unique_ptr<Manager> manager_;
  std::string function_;     // its location
  db::KeyspaceName source_;  // of the function
  std::chrono::seconds patience_{0};
  uint64_t settled_ms_ = 0;  // no timer is due before this time
};

}  // namespace sluice::function::trial
