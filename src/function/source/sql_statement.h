// What the SQL++ parser says of a statement, in a handler's terms.
#pragma once

#include <string_view>

#include "base/status.h"
#include "function/source/embedded_sql.h"

namespace sluice::function {

// Sets parameters, writes and targets from statement->sql. An error has its place in the handler;
// `statement->place` is where the text begins there.
Status ReadStatement(EmbeddedStatement* statement);

}  // namespace sluice::function
