// dbthread: a function of a procedure that runs on a thread of its own, with a runtime of its own.
// What it shares with the procedure: its rights, its caller, and temporary tables that it is given.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/thread.h"
#include "lua/host.h"
#include "lua/runtime.h"
#include "procedure/session.h"

namespace sluice::procedure {

class ThreadObject final : public lua::HostObject {
 public:
  // At the same time, of one run; one more waits until one of them has ended.
  static constexpr size_t kMaxThreads = 128;

  // `parent` outlives it. Arguments are values and tables.
  ThreadObject(Session& parent, std::string function, std::vector<lua::Passed> arguments,
               uint64_t time_ms);
  ~ThreadObject() override;
  static const lua::HostClass& Class();

  // Waits until it has ended; an error when `call` is over before.
  Status Wait(lua::Call& call);
  // Stops it, if need be, and waits until it has ended.
  void End(bool stop);
  bool ended() const { return ended_.load(); }
  // After it has ended.
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
  std::mutex mutex_;
  std::condition_variable changed_;
  Thread thread_;
};

// db:create_thread(function, ...).
Status StartThread(Session& session, lua::Call& call);
// Waits for all threads of a run; stops them first when it has failed.
void EndThreads(Session& session, bool stop);

}  // namespace sluice::procedure
