// One EXEC PROCEDURE. The procedure runs on a thread of its own from the first Next on; rows that
// it emits wait in a short queue, and it waits when that is full. Letting go of the run stops it.
//
// A row is acknowledged when the one after it is asked for; or, if the request has receipts, when
// these say so. What was acknowledged counts although the client goes right after it: a procedure
// that waited for that has some time to consume what the row stood for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/thread.h"
#include "lua/runtime.h"
#include "procedure/client_rows.h"
#include "procedure/emitter.h"
#include "procedure/store.h"
#include "query/engine.h"

namespace sluice::procedure {

class Triggers;

struct RunOptions {
  std::string name;
  std::shared_ptr<const lua::Program> program;
  std::vector<Value> arguments;
  query::QueryContext context;
  query::RunRequest request;
  lua::Limits limits;
  int nesting = 0;
};

class ProcedureRun final : public query::Run, private ClientRows {
 public:
  // `running` counts the runs that there are.
  ProcedureRun(query::QueryEngine& engine, const Store& store, const Triggers& triggers,
               RunOptions options, std::shared_ptr<std::atomic<size_t>> running);
  ~ProcedureRun() override;

  bool Next() override;
  const Value& row() const override { return row_; }
  bool NextWaits() const override;
  Status status() const override;
  const std::vector<Status>& row_errors() const override { return no_errors_; }
  const std::vector<query::Warning>& warnings() const override { return no_warnings_; }
  uint64_t mutations() const override { return mutations_; }
  uint64_t sorted() const override { return 0; }
  Value profile() const override { return {}; }
  Emitter::Types column_types() const override;

 private:
  static constexpr size_t kMaxQueued = 64;
  static constexpr size_t kMaxQueuedAhead = 1024;

  void Main();
  Status RunProgram();
  // Waits until there are rows in ready_; none at the end.
  void WaitForRows();
  // Nobody wants rows any more. Under mutex_.
  void Stop(std::unique_lock<std::mutex>* lock);

  // The thread of the run.
  Status Put(std::unique_lock<std::mutex>* lock, Value row);  // under mutex_
  bool HasRoom() const override;
  Status Push(Value row) override;
  Status PushAndWait(Value row, const std::function<Status()>& look) override;
  uint64_t pushed() const override;
  uint64_t acknowledged() const override;
  bool gone() const override;
  void Rest() override;
  void Confirm(uint64_t rows) override;
  bool runs_ahead() const override { return options_.request.receipts != nullptr; }
  void SetWake(std::function<void()> wake) override;
  size_t max_queued() const { return runs_ahead() ? kMaxQueuedAhead : kMaxQueued; }
  void Notify();  // under mutex_

  query::QueryEngine& engine_;
  const Store& store_;
  const Triggers& triggers_;
  RunOptions options_;
  const std::shared_ptr<std::atomic<size_t>> running_;
  const std::shared_ptr<std::atomic<bool>> cancelled_;
  const std::vector<Status> no_errors_;
  const std::vector<query::Warning> no_warnings_;
  std::atomic<uint64_t> mutations_ = 0;

  // Of whoever calls Next.
  Value row_;
  std::deque<Value> ready_;  // pulled, to be given
  uint64_t given_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Value> queue_;          // under mutex_
  uint64_t pushed_ = 0;              // under mutex_; rows, since the start
  uint64_t acknowledged_ = 0;        // under mutex_; of those, followed by another Next
  std::function<void()> wake_;       // under mutex_
  bool ended_ = false;               // under mutex_
  Status status_;                    // under mutex_
  Emitter::Types types_;             // under mutex_
  lua::Runtime* runtime_ = nullptr;  // under mutex_, while it runs
  bool stopping_ = false;            // under mutex_; the client has gone
  // Under mutex_. False from a row that is to be acknowledged on until the procedure has dealt with
  // that.
  bool acted_on_ = true;
  Thread thread_;
};

}  // namespace sluice::procedure
