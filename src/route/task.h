// A function that flows call, by the route that it has: code of the app, or built in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "json/value.h"

namespace sluice::route {

struct TaskInput {
  const json::Value& headers;  // an object of texts
  const json::Value& body;
  int instance = 1;
  uint64_t timeout_ms = 30'000;
};

// A status of 400 and more is a failure, and the body its message.
struct TaskOutput {
  int status = 200;
  json::Value headers = json::Value::EmptyObject();
  json::Value body = {};
  std::string stack = {};

  static TaskOutput Failure(int status, std::string message) {
    return {.status = status, .body = json::Value(message)};
  }
  // What a caller is told of an error of ours.
  static TaskOutput Failure(const Status& status);
};

// One of a route's instances. One thread at a time; may block.
class TaskInstance {
 public:
  virtual ~TaskInstance() = default;
  virtual TaskOutput Run(const TaskInput& input) = 0;
};

// Makes one; from any thread.
using TaskMaker = std::function<Result<std::unique_ptr<TaskInstance>>()>;

}  // namespace sluice::route
