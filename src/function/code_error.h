// The problems of a function's code as one error. For programs, the fields `line`, `column`,
// `index` and `area` give the place of the first problem: the index counts UTF-16 units of the
// handler's text, and the area is handlerCode, handlerHeaders or handlerFooters.
#pragma once

#include <span>

#include "base/status.h"
#include "function/definition.h"
#include "function/source/transpile.h"
#include "script/run.h"

namespace sluice::function {

// For problems that the checks found, at least one. Each has a line; the id is that of the first.
Status CodeError(const Definition& definition, std::span<const Status> problems);
// For the problem that V8 reported when it loaded the code.
Status CodeError(const Definition& definition, const PreparedSource& source,
                 const script::Outcome& failed);

}  // namespace sluice::function
