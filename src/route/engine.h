// Runs flows: steps their machines, calls the functions that they ask for, keeps their time.
//
// A run is stepped on a thread of the pool; the first function that a step asks for is called on
// the same thread, the others (of a fork) on others. So a flow whose functions follow each other
// changes threads not once.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "flow/run.h"
#include "route/app.h"
#include "route/pool.h"

namespace sluice::route {

struct Reply {
  int status = 200;
  json::Value headers = json::Value::EmptyObject();
  json::Value body = {};
};
using ReplyTo = std::function<void(Reply reply)>;

struct EngineOptions {
  size_t max_runs = 10'000;
  size_t max_threads = 256;
};

class Engine {
 public:
  Engine(const Clock& clock, EngineOptions options);
  ~Engine();  // Stop
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Answers once, from any thread: what the flow responds, or why it could not.
  void Start(std::shared_ptr<const App> app, flow::Start start, ReplyTo reply);
  // Calls one function, without a flow.
  void Call(std::shared_ptr<const App> app, const std::string& route, json::Value headers,
            json::Value body, uint64_t timeout_ms, ReplyTo reply);
  // Ends all runs; their callers are told.
  void Stop();

  size_t running() const { return running_.load(); }

 private:
  struct Instance;
  using InstancePtr = std::shared_ptr<Instance>;

  void Drive(const InstancePtr& instance, flow::Event event);
  void Handle(const InstancePtr& instance, flow::Actions actions,
              std::optional<flow::Call>* inline_call);
  // None when it waits for a free instance of the route.
  std::optional<flow::TaskResult> RunCall(const InstancePtr& instance, const flow::Call& call);
  flow::TaskResult RunOn(Route& route, Route::Slot& slot, const flow::Call& call,
                         const InstancePtr& instance);
  void Release(const std::shared_ptr<Route>& route, Route::Slot* slot);
  void Send(const InstancePtr& instance, const flow::Send& send);
  void Schedule(const InstancePtr& instance, std::optional<uint64_t> due_ms);
  void TimerLoop();
  uint64_t NowMs();

  const Clock& clock_;
  const EngineOptions options_;
  std::atomic<uint64_t> last_ms_{0};
  std::atomic<size_t> running_{0};
  std::atomic<bool> stopping_{false};
  Pool pool_;

  std::mutex timer_mutex_;
  std::condition_variable timer_wake_;
  std::set<std::pair<uint64_t, InstancePtr>> timers_;  // under timer_mutex_
  std::thread timer_thread_;
};

}  // namespace sluice::route
