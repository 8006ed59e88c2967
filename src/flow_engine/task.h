// A function that flows call, by the route that it has: code of the app, or built in.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/database.h"
#include "flow_engine/trace_context.h"
#include "json/value.h"

namespace sluice::flow_engine {

class StreamScope;
class TaskSink;

struct TaskInput {
  const json::Value& headers;  // an object of texts
  const json::Value& body;
  int instance = 1;
  uint64_t timeout_ms = 30'000;
  uint64_t now_ns = 0;  // monotonic time, if the caller knows it
  // Takes the writes of the function; null: the function commits them itself.
  TaskSink* sink = nullptr;
  // Becomes true when nobody waits for the answer any more; null: the caller can't say that.
  std::shared_ptr<std::atomic<bool>> cancelled = nullptr;
  // The call's span, the parent of calls that the function makes; null: it is not traced.
  const TraceContext* trace = nullptr;
  // The streams of its run, or call; null: there can be none.
  StreamScope* streams = nullptr;
  // For HeadersWithOrigin: the function's route, and the caller's correlation id and trace; empty
  // where the function must not see them.
  std::string_view route = {};
  std::string_view cid = {};
  std::string_view trace_id = {};
};

// The headers with my_route, my_correlation_id and my_trace_id, which tell a function its caller.
// Nobody else sets these.
json::Value HeadersWithOrigin(const TaskInput& input);
// Whether code may read them. To make them takes as long as many a function does.
bool ReadsOrigin(std::string_view code);

// A status of 400 and more is a failure, and the body its message.
struct TaskOutput {
  int status = 200;
  json::Value headers = json::Value::EmptyObject();
  json::Value body = {};
  std::string stack = {};
  // The function had no effects besides its answer and its writes: calling it again does no harm.
  bool repeatable = false;
  // The engine gives the answer this much later; no thread waits meanwhile.
  uint64_t answer_after_ms = 0;
  uint64_t hold_next_ms = 0;  // flow::TaskResult

  static TaskOutput Failure(int status, std::string message) {
    return {.status = status, .body = json::Value(message)};
  }
  // The answer for an error of ours.
  static TaskOutput Failure(const Status& status);
};

// Takes the writes of a function together with its answer. A durable run adds its own step to the
// commit, so that both happen or neither.
class TaskSink {
 public:
  virtual ~TaskSink() = default;
  // The function does nothing more. When the commit meets a conflict, it is called again.
  virtual Status Commit(const TaskOutput& output, db::Commit commit) = 0;
};

// Hands a commit to the sink, or to the database when there is none. Waits.
Status CommitTask(db::Database& database, const TaskInput& input, const TaskOutput& output,
                  db::Commit commit);

// One of a route's instances. One thread at a time; may block.
class TaskInstance {
 public:
  virtual ~TaskInstance() = default;
  // Called after a call that could be stopped: forgets a stop that came too late for it.
  virtual void Renew() {}
  virtual TaskOutput Run(const TaskInput& input) = 0;
  // Whether it is code of users, which may end the process.
  virtual bool runs_code() const { return false; }
  // From another thread while it runs, or is about to: nobody wants the answer any more.
  virtual void Stop() {}
};

// Makes one; from any thread.
using TaskMaker = std::function<Result<std::unique_ptr<TaskInstance>>()>;

}  // namespace sluice::flow_engine
