// What the SQL++ parser says of a statement, in a handler's terms.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "function/source/embedded_sql.h"

namespace sluice::function {

// Sets parameters, writes and targets from statement->sql. An error has its place in the handler;
// `statement->place` is where the text begins there.
Status ReadStatement(EmbeddedStatement* statement);

// The first word of a statement that Couchbase has and this server does not; else empty.
std::string UnavailableVerb(std::string_view sql);

}  // namespace sluice::function
