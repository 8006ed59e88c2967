// A function of flows in JavaScript: tasks/ROUTE.js with handleEvent(headers, input, instance).
#pragma once

#include <expected>
#include <vector>

#include "flow_engine/task.h"
#include "function/handler.h"
#include "js/syntax_check.h"

namespace sluice::flow_engine {

// Checks and compiles the code. Errors are those of functions, each with its place in the code.
std::expected<TaskMaker, std::vector<Status>> MakeJsTask(const function::Services& services,
                                                         function::Definition definition,
                                                         js::SyntaxChecker* checker);

}  // namespace sluice::flow_engine
