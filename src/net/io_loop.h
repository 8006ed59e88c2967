// One I/O loop: its io_context, the connections that live on it, and the one timer that looks at
// all their time limits. One thread has it at a time (loop_threads.h).
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/clock.h"
#include "base/locked.h"
#include "base/pool.h"
#include "base/signal.h"
#include "net/connection.h"
#include "net/exchange.h"
#include "net/loop_threads.h"
#include "net/server.h"

namespace sluice::net {

// Data that all loops and connections of a server share. Immutable after Start, except for the
// counters.
struct ServerContext {
  ServerContext(const ServerOptions& options, const Clock& clock)
      : options(options), clock(clock) {}

  uint64_t now_ns() const { return clock.MonotonicNs(); }

  const ServerOptions options;
  const Clock& clock;
  std::unique_ptr<Pool> workers;

  // Connections alive on all loops. AwaitNone waits until the last one has left; false when it has
  // not by the deadline.
  bool TryEnter(size_t limit);
  void Leave();
  bool AwaitNone(Signal::Deadline deadline = std::nullopt);
  std::atomic<size_t> connections = 0;

 private:
  Signal none_;  // the last connection has left
};

class IoLoop final : public Loop, public std::enable_shared_from_this<IoLoop> {
 public:
  // `index`: its place among the server's loops.
  IoLoop(ServerContext* server, size_t index);
  ~IoLoop() override;

  void Start();
  void End();   // no further event or job begins
  void Join();  // waits for the threads; after End

  // Any thread.
  void Post(std::move_only_function<void()> run) override;

  // All others: the loop's thread, or any thread before Start.
  void Run(std::move_only_function<void()> job) override;
  void Adopt(std::unique_ptr<Connection> connection, std::unique_ptr<Transport> transport);
  // The connection has ended; it is destroyed after the current event.
  void Retire(Connection* connection);
  void BeginDrain();
  void CloseAll();

  boost::asio::io_context& context() { return context_; }
  ServerContext& server() { return *server_; }
  size_t index() const { return index_; }
  bool draining() const { return draining_; }

 private:
  void Work();
  bool RunJobs();
  void RunPosted();
  void ArmTick();
  void Tick();

  ServerContext* const server_;
  const size_t index_;
  boost::asio::io_context context_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  boost::asio::steady_timer timer_;
  bool tick_armed_ = false;  // only while there are connections
  bool draining_ = false;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> retired_;
  std::deque<std::move_only_function<void()>> jobs_;  // code of users that waits for its turn

  struct Posted {
    std::vector<std::move_only_function<void()>> runs;
    bool ended = false;  // nothing more is taken
  };
  Locked<Posted> posted_;

  LoopThreads threads_;
};

}  // namespace sluice::net
