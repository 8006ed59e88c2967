// Base64 of {"statement", "query_context"?, "dialect"?}.
#include "query/encoded_plan.h"

#include "base/base64.h"
#include "json/parse.h"
#include "json/print.h"
#include "query/error.h"

namespace sluice::query {

using json::Value;

std::string ContextText(const QueryContext& context) {
  if (context.bucket.empty()) return {};
  return "default:" + context.bucket + "." + context.scope;
}

std::string EncodePlan(const PreparedText& prepared) {
  Value plan = Value::Object({{"statement", Value(prepared.text)}});
  if (!prepared.context.bucket.empty()) {
    plan.Set("query_context", Value(ContextText(prepared.context)));
  }
  if (prepared.context.dialect == Dialect::kComdb2) plan.Set("dialect", Value("comdb2"));
  return ToBase64(json::ToText(plan));
}

Result<PreparedText> DecodePlan(std::string_view encoded) {
  const Result<std::string> text = FromBase64(encoded);
  if (text) {
    const Result<Value> plan = json::Parse(*text, {.max_bytes = text->size()});
    if (plan && (*plan)["statement"].is_string()) {
      PreparedText prepared{.text = std::string((*plan)["statement"].AsString()), .context = {}};
      const Value context = (*plan)["query_context"];
      if (context.is_string()) {
        ASSIGN_OR_RETURN(prepared.context, QueryContext::Parse(context.AsString()));
      }
      const Value dialect = (*plan)["dialect"];
      const bool comdb2 = dialect.is_string() && dialect.AsString() == "comdb2";
      if (comdb2) prepared.context.dialect = Dialect::kComdb2;
      return prepared;
    }
  }
  return QueryFail(QueryCode::kBadEncodedPlan,
                   "the encoded_plan is not one that PREPARE gave: prepare the statement again");
}

}  // namespace sluice::query
