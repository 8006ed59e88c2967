// Statements of SQL++ that Sluice does not have: refused with an error that names the feature.
#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

struct Feature {
  std::string_view word;  // after CREATE, ALTER or DROP
  std::string_view what;
};

constexpr std::string_view kFunctions =
    "user-defined functions (CREATE FUNCTION) are not supported: write a Lua function, CREATE LUA "
    "SCALAR FUNCTION";
constexpr std::string_view kSequences =
    "sequences are not supported: keep a number in a document, or use UUID()";
constexpr std::string_view kAccounts =
    "accounts and roles are not changed by statements: use 'sluice user'";

constexpr Feature kDefinitions[] = {
    {"FUNCTION", kFunctions},
    {"SEQUENCE", kSequences},
    {"VECTOR", "vector indexes are not supported: VECTOR_DISTANCE() compares vectors without one"},
    {"HYPERSCALE",
     "vector indexes are not supported: VECTOR_DISTANCE() compares vectors without one"},
    {"USER", kAccounts},
    {"GROUP", kAccounts},
    {"CATALOG", "external catalogs are not supported"},
    {"EXTERNAL", "external collections are not supported"},
    {"VIEW", "views are not supported: use WITH, or a subquery in FROM"},
    {"TIME", "time partitions are not supported: a document or row can have an expiry"},
    {"CREDENTIALSTORE", "credential stores are not supported"},
};

}  // namespace

Status Parser::Unsupported() const {
  if (At("CREATE") || At("ALTER") || At("DROP")) {
    const size_t object = At("CREATE") && IsWordAhead(1, "OR") && IsWordAhead(2, "REPLACE") ? 3 : 1;
    for (const Feature& feature : kDefinitions) {
      if (IsWordAhead(object, feature.word)) return Wrong(Ahead(object), feature.what);
    }
  }
  if (AtWord("EXECUTE") || AtWord("EXPLAIN")) {
    if (IsWordAhead(1, "FUNCTION")) return Wrong(Ahead(1), kFunctions);
  }
  if (AtWord("ADVISE")) {
    return Wrong(Here(), "ADVISE (advice on indexes) is not supported: EXPLAIN shows the plan");
  }
  if (comdb2() && AtWord("REBUILD")) {
    return Wrong(Here(), "REBUILD is not supported: the server keeps its storage in shape itself");
  }
  if (AtWord("GRANT") || AtWord("REVOKE")) return Wrong(Here(), kAccounts);
  return OkStatus();
}

Status Parser::UnsupportedExpression() const {
  // NEXT and PREV are names, too: `SELECT next value` has one and its alias.
  const bool value = (AtWord("NEXT") || AtWord("PREV")) && IsWordAhead(1, "VALUE");
  const bool of_one = value ? IsWordAhead(2, "FOR")
                            : (AtWord("NEXTVAL") || AtWord("PREVVAL")) && IsWordAhead(1, "FOR");
  if (of_one) return Wrong(Here(), kSequences);
  return OkStatus();
}

}  // namespace sluice::query
