// Where tables are read, Comdb2's rules hold for what SQL++ answers with NULL or with nothing.
#pragma once

#include "query/bind/binder.h"

namespace sluice::query {

// Of a call whose arguments are bound, in a block that reads a table: || takes any scalar, and a
// column of numbers is compared with the number that a text holds.
void UseComdb2Rules(const Variables& variables, Expression& call);

// Of a call that is not bound yet, in Comdb2's dialect: functions and operators that mean something
// else there than in SQL++.
void UseComdb2Functions(ExpressionPtr& call);

// A call of one function over what stands there.
ExpressionPtr WrapInCall(std::string_view function, ExpressionPtr expression);

}  // namespace sluice::query
