// dbthread: a function of a procedure that runs on a thread of its own, with a runtime of its own.
// The thread shares the rights and the caller of the procedure, and the temporary tables that the
// procedure passes to it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/signal.h"
#include "base/thread.h"
#include "lua/host.h"
#include "lua/runtime.h"
#include "procedure/session.h"

namespace sluice::procedure {

class ThreadObject final : public lua::HostObject {
 public:
  // The most threads of one run at the same time. Another one starts when one of them has ended.
  static constexpr size_t kMaxThreads = 128;

  // `parent` must outlive it. The arguments are values and tables.
  ThreadObject(Session& parent, std::string function, std::vector<lua::Passed> arguments,
               uint64_t time_ms);
  ~ThreadObject() override;
  static const lua::HostClass& Class();

  // Waits until the thread has ended. Error procedure.failed if `call` is over before that.
  Status Wait(lua::Call& call);
  // Waits until the thread has ended; with `stop`, ends the run of its function first.
  void End(bool stop);
  bool ended() const { return ended_.load(); }
  // Call these after it has ended.
  const std::vector<Value>& values() const { return values_; }
  const std::string& error() const { return error_; }
  uint64_t mutations() const { return session_.mutations; }
  const std::string& emitted_error() const { return session_.emitted_error; }

 private:
  void Main();

  Session session_;
  const std::string name_;
  const std::string function_;
  std::vector<lua::Passed> arguments_;
  std::unique_ptr<lua::Runtime> runtime_;
  std::vector<Value> values_;
  std::string error_;
  std::atomic<bool> ended_ = false;
  const std::shared_ptr<Signal> some_ended_;  // of the run's threads
  Thread thread_;
};

// db:create_thread(function, ...).
Status StartThread(Session& session, lua::Call& call);
// Waits for all threads of a run; with `stop`, ends their functions first.
void EndThreads(Session& session, bool stop);

}  // namespace sluice::procedure
