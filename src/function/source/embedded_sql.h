// Finds SQL++ statements in a handler's JavaScript. They stand where JavaScript allows a statement
// or an operand:
//
//   const rows = SELECT name FROM users WHERE age > $limit;
//   for (const row of SELECT ...) { ... }
//
// A candidate begins with one of the words of IsSqlVerb (any case), or with parentheses before one,
// and ends where SqlLength says. It is SQL++ if the SQL++ parser reads it and JavaScript would
// refuse it, for example because a name follows a name. If both could read it (SELECT * FROM `x`;
// is also a multiplication), it is SQL++ unless the program declares the variables SELECT and FROM,
// or no blank follows the verb. If neither can read it, the error has the SQL++ parser's message.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "function/source/token_list.h"

namespace sluice::function {

// The most bytes that a handler's candidates may have together. Each candidate is read to its end,
// so that words that only look like verbs cost time.
inline constexpr size_t kMaxCandidateBytes = 4 << 20;

// A keyspace as a statement names it: bucket, bucket.scope.collection, or only a collection.
struct SqlTarget {
  std::string name_space;  // "default" in default:a.b.c; often empty
  std::vector<std::string> parts;

  bool operator==(const SqlTarget&) const = default;
};

struct EmbeddedStatement {
  SourcePlace place;
  size_t offset = 0;
  size_t length = 0;                    // in the handler's text, without the semicolon
  std::string sql;                      // comments blanked
  std::vector<std::string> parameters;  // of $name, without the $, sorted
  bool writes = false;                  // anything but SELECT, EXPLAIN, INFER, ADVISE and PREPARE
  std::vector<SqlTarget> targets;       // of INSERT, UPSERT, UPDATE, DELETE and MERGE
};

struct EmbeddedSql {
  TokenList tokens;  // of the whole text, with a kSql token for each statement
  std::vector<EmbeddedStatement> statements;
  std::vector<Status> errors;  // function.sql_syntax, function.sql_parameter
};

// `known_names` are the names of bindings, which are global as the program's own names are. `text`
// outlives the tokens.
EmbeddedSql FindEmbeddedSql(std::string_view text, const std::set<std::string>& known_names);

bool IsSqlVerb(std::string_view word);

enum class SqlConsistency { kUnset, kNone, kRequest };

// The JavaScript that runs the statement: N1QL('...', {'$a': a}). It has as many lines as the
// statement.
std::string CallText(const EmbeddedStatement& statement, SqlConsistency consistency);

}  // namespace sluice::function
