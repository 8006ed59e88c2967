// A function of flows in JavaScript: tasks/ROUTE.js with handleEvent(headers, input, instance).
#pragma once

#include "function/handler.h"
#include "route/task.h"

namespace sluice::route {

// Checks and compiles the code. Errors are those of functions, each a line with its place.
Result<TaskMaker> MakeJsTask(const function::Services& services, function::Definition definition);

}  // namespace sluice::route
