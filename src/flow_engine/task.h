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
  uint64_t now_ns = 0;  // monotonic time, if who calls knows it
  // Who commits what the function writes; null: the function itself.
  TaskSink* sink = nullptr;
  // Becomes true when nobody waits for the answer any more; null: that is never told.
  std::shared_ptr<std::atomic<bool>> cancelled = nullptr;
  // The call's span, for whom the function calls; null: it is not traced.
  const TraceContext* trace = nullptr;
  // The streams of its run, or call; null: there can be none.
  StreamScope* streams = nullptr;
  // For HeadersWithOrigin: its route, and the correlation id and the trace of who asked, if told.
  std::string_view route = {};
  std::string_view cid = {};
  std::string_view trace_id = {};
};

// Headers that functions find of where they are called from: my_route, my_correlation_id,
// my_trace_id. Nobody else sets them.
json::Value HeadersWithOrigin(const TaskInput& input);
// Whether code may read them. Making them costs what many a function takes.
bool ReadsOrigin(std::string_view code);

// A status of 400 and more is a failure, and the body its message.
struct TaskOutput {
  int status = 200;
  json::Value headers = json::Value::EmptyObject();
  json::Value body = {};
  std::string stack = {};
  // It did nothing but answer and hand over what it writes: calling it again does no harm.
  bool repeatable = false;
  // The answer is given so much later; nobody waits for that on a thread.
  uint64_t answer_after_ms = 0;
  uint64_t hold_next_ms = 0;  // flow::TaskResult

  static TaskOutput Failure(int status, std::string message) {
    return {.status = status, .body = json::Value(message)};
  }
  // What a caller is told of an error of ours.
  static TaskOutput Failure(const Status& status);
};

// Takes what a function writes, together with its answer: a durable run adds its own move to the
// commit, so that both happen or none.
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
  // After a call that could be stopped: a stop that came too late is not for the next one.
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
