// One EXEC PROCEDURE.
//
// Operation: the procedure runs on a thread of its own from the first Next on. The rows that it
// emits wait in a short queue; the procedure waits when the queue is full. The destructor stops it.
// A row is acknowledged when the caller asks for the next one or, if the request has receipts, when
// the receipts say so. An acknowledgement counts although the client goes right after it: a
// procedure that waited for it has some time to consume the row's event.
// Concurrency: one thread calls Next; the private part below belongs to the procedure's thread.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/locked.h"
#include "base/signal.h"
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
  // `running` counts the runs; this one is counted already.
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
  // Waits until there are rows in ready_; at the end of the run there are none.
  void WaitForRows();
  // Ends the procedure: the client wants no more rows.
  void Stop();

  // Gives a row to the caller of Next, and returns the number of rows given so far. kAwaited: the
  // procedure will wait until the client has acknowledged the row.
  enum class Acknowledgement : uint8_t { kNotAwaited, kAwaited };
  Result<uint64_t> Put(Value row, Acknowledgement acknowledgement);
  bool HasRoom() const override;
  Status Push(Value row) override;
  Status PushAndWait(Value row, const std::function<Status()>& look) override;
  uint64_t pushed() const override;
  uint64_t acknowledged() const override;
  bool gone() const override;
  void Rest() override;
  void Confirm(uint64_t rows) override;
  bool runs_ahead() const override { return options_.request.receipts != nullptr; }
  void SetWake(std::shared_ptr<Signal> signal) override;
  size_t max_queued() const { return runs_ahead() ? kMaxQueuedAhead : kMaxQueued; }

  query::QueryEngine& engine_;
  const Store& store_;
  const Triggers& triggers_;
  RunOptions options_;
  const std::shared_ptr<std::atomic<size_t>> running_;
  const std::shared_ptr<std::atomic<bool>> cancelled_;
  const std::vector<Status> no_errors_;
  const std::vector<query::Warning> no_warnings_;
  std::atomic<uint64_t> mutations_ = 0;

  // These belong to the caller of Next.
  Value row_;
  std::deque<Value> ready_;  // taken from the queue
  uint64_t given_ = 0;

  struct State {
    std::deque<Value> queue;
    uint64_t pushed = 0;        // rows, since the start
    uint64_t acknowledged = 0;  // rows; unless there are receipts
    bool ended = false;
    Status status;
    Emitter::Types types;
    lua::Runtime* runtime = nullptr;  // while it runs
    bool stopping = false;            // the client has gone
    // False from the moment on when an awaited row is given, until the procedure has handled the
    // acknowledgement.
    bool acted_on = true;
  };
  Locked<State> state_;
  // Tells both threads that the state has changed. Receipts may wake after the run has ended.
  struct Wakes {
    Signal changed;
    Locked<std::shared_ptr<Signal>> forwarder;  // may be null

    void Wake() {
      changed.Wake();
      if (const auto signal = forwarder.Copy()) signal->Wake();
    }
  };
  const std::shared_ptr<Wakes> wakes_ = std::make_shared<Wakes>();
  Thread thread_;
};

}  // namespace sluice::procedure
