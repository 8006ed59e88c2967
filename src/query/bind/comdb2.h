// Rewrites expressions to Comdb2's rules. In blocks that read tables, these rules apply where SQL++
// would give NULL or MISSING.
#pragma once

#include "query/bind/binder.h"

namespace sluice::query {

// For a call whose arguments are bound, in a block that reads a table: || takes any scalar, and a
// column of numbers is compared with the number in a text.
void UseComdb2Rules(const Variables& variables, Expression& call);

// For a call that is not bound yet, in Comdb2's dialect: replaces functions and operators that mean
// something else there than in SQL++.
void UseComdb2Functions(ExpressionPtr& call);

// A call of a function with the expression as its argument.
ExpressionPtr WrapInCall(std::string_view function, ExpressionPtr expression);

}  // namespace sluice::query
