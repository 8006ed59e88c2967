// Reads an embedded statement by the SQL++ parser, and gives errors their places in the handler.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "function/source/embedded_sql.h"

namespace sluice::function {

// Sets parameters, writes and targets from statement->sql, which begins at `statement->place` in
// the handler.
Status ReadStatement(EmbeddedStatement* statement);

// The first word of the statement, if Couchbase has such statements and this server does not; else
// empty.
std::string UnavailableVerb(std::string_view sql);

}  // namespace sluice::function
