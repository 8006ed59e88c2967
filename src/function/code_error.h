// What is wrong with a function's code as one error. The fields `line`, `column`, `index` and
// `area` say where the first problem is, for programs: the index counts UTF-16 units of the
// handler's text, and the area is handlerCode, handlerHeaders or handlerFooters.
#pragma once

#include <span>

#include "base/status.h"
#include "function/definition.h"
#include "function/source/transpile.h"
#include "script/run.h"

namespace sluice::function {

// Of what the checks found, at least one: a line each. The id is the first one's.
Status CodeError(const Definition& definition, std::span<const Status> problems);
// Of what the engine said when it loaded the code.
Status CodeError(const Definition& definition, const PreparedSource& source,
                 const script::Outcome& failed);

}  // namespace sluice::function
