// The state that the Lua objects of one run share. Belongs to the thread of the run.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/signal.h"
#include "db/transaction.h"
#include "lua/runtime.h"
#include "procedure/client_rows.h"
#include "procedure/emitter.h"
#include "procedure/store.h"
#include "procedure/trigger/event_value.h"
#include "query/engine.h"
#include "script/stream_source.h"

namespace sluice::procedure {

// The most levels of procedures that call each other. Each level has a Lua state and, with EXEC, a
// thread.
inline constexpr int kMaxNesting = 16;

// The result codes of Comdb2, such as db.err_dup.
inline constexpr int64_t kOk = 0;
inline constexpr int64_t kDuplicate = 1;
inline constexpr int64_t kVerify = 2;
inline constexpr int64_t kForeignKey = 3;
inline constexpr int64_t kNullConstraint = 4;
inline constexpr int64_t kCheckConstraint = 6;
inline constexpr int64_t kConversion = 113;
inline constexpr int64_t kFailed = -3;
int64_t ResultCodeOf(const Status& status);

struct Consumption;
class Triggers;
class TemporaryTable;
// The error of a run that failed: "procedure 'p': p:3: ...", with the line and the stack. Error
// procedure.failed.
Status FailureOf(std::string_view kind, const std::string& name, const script::Outcome& outcome);

// The version that SET SPVERSION has chosen; MISSING if it has chosen none.
Value ChosenVersion(const query::RunRequest& request, const std::string& procedure);

// The number of nested procedures and functions that the calling thread runs.
int CurrentNesting();
// Sets the nesting of its thread while it lives: one level deeper, or a given level.
class NestedRun {
 public:
  NestedRun() : NestedRun(CurrentNesting() + 1) {}
  explicit NestedRun(int nesting);
  ~NestedRun();
  NestedRun(const NestedRun&) = delete;
  NestedRun& operator=(const NestedRun&) = delete;

 private:
  const int outer_;
};

class ThreadObject;

// The rows that the statements of a transaction have touched; db:commit{with_effects = true}
// returns them.
struct Effects {
  int64_t selected = 0;
  int64_t inserted = 0;
  int64_t updated = 0;
  int64_t deleted = 0;
};

struct Session {
  query::QueryEngine& engine;
  const Store& store;
  const Triggers* triggers;
  std::string name;  // of the procedure
  query::QueryContext context;
  query::RunRequest request;  // of the caller: its rights and its transaction
  std::shared_ptr<std::atomic<bool>> cancelled;
  // Gives a row to the caller; an error when the caller has gone.
  std::function<Status(Value row)> emit;
  // Null if the client can't acknowledge rows.
  ClientRows* client;
  int nesting = 0;
  // A function runs inside a statement.
  enum class Role : uint8_t { kProcedure, kTrigger, kFunction, kThread };
  Role role = Role::kProcedure;

  const script::StreamSource* streams = nullptr;  // of a task; may be null

  lua::Runtime* runtime = nullptr;
  bool begun = false;  // between db:begin and its end
  // Made by the first statement after db:begin, so that a procedure that waits before it holds no
  // snapshot.
  std::unique_ptr<db::Transaction> transaction = nullptr;
  std::shared_ptr<Consumption> consumption = nullptr;  // after db:consumer
  Emitter emitter = {};
  std::string last_error = {};
  uint64_t mutations = 0;
  lua::Limits limits = {};
  Effects effects = {};                                     // since db:begin
  std::string emitted_error = {};                           // by db:emiterror
  std::vector<std::shared_ptr<ThreadObject>> threads = {};  // not known to have ended
  std::shared_ptr<Signal> thread_ended = std::make_shared<Signal>();
  RecentEvents events = {};
  // By their keys.
  std::map<std::string, std::shared_ptr<TemporaryTable>, std::less<>> temporary = {};
  // Gives the types of the emitted columns to the caller; may be null.
  std::function<void(Emitter::Types types)> note_types = nullptr;
  std::vector<Value> bound_positional = {};
  std::map<std::string, Value> bound_named = {};
  std::map<std::string, std::shared_ptr<const query::StatementPlan>, std::less<>> plans = {};

  lua::Zone zone() const {
    return lua::Zone::Named(runtime == nullptr ? "UTC" : runtime->time_zone())
        .value_or(lua::Zone{});
  }
  // From now on statements find this table by its name, and no other table of that name.
  void AddTemporary(const std::shared_ptr<TemporaryTable>& table);
  // Null if there is none with that name.
  std::shared_ptr<TemporaryTable> FindTemporary(std::string_view name) const;
  // The plan of a statement. The plans of the last statements are kept.
  Result<std::shared_ptr<const query::StatementPlan>> Plan(std::string_view text);
  // A request for one statement.
  query::RunRequest Request(lua::Call& call);
  // Notes the error for db:error() and returns its number.
  int64_t Note(const Status& status);
};

}  // namespace sluice::procedure
