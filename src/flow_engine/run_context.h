// The context that a caller gives to the engine with a run or a call, and the reply to it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/pool.h"
#include "flow_engine/stream.h"
#include "flow_engine/trace_context.h"
#include "json/value.h"

namespace sluice::flow_engine {

struct Reply {
  int status = 200;
  json::Value headers = json::Value::EmptyObject();
  json::Value body = {};
  std::string run = {};                                  // the id of a durable run
  std::shared_ptr<const StreamScope> streams = nullptr;  // those that headers may name
};
using ReplyTo = std::function<void(Reply reply)>;

struct RunContext {
  TraceLink trace = {};
  std::shared_ptr<StreamScope> streams = nullptr;  // null: it has none yet
  // Runs a job on the caller's thread, after the present call; null: on a thread of the pool. It
  // may drop a job only when nobody waits for the answer any more.
  std::function<void(Pool::Job job)> run = nullptr;
  // Runs the jobs that `run` does not run, and calls that had to wait for an instance; null: the
  // engine's pool.
  Pool* pool = nullptr;
  std::string cid = {};  // of a call: the caller's correlation id
};

}  // namespace sluice::flow_engine
