// The text of a prepared statement in the form that PREPARE gives as "encoded_plan": a client that
// keeps it can have the statement prepared again where its name is not known (any more).
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "query/bind/binder.h"

namespace sluice::query {

struct PreparedText {
  std::string text;
  QueryContext context;
};

std::string EncodePlan(const PreparedText& prepared);
// Error 4070, at which clients prepare the statement again.
Result<PreparedText> DecodePlan(std::string_view encoded);

// As in a request: "default:bucket.scope", or empty.
std::string ContextText(const QueryContext& context);

}  // namespace sluice::query
