// SQL++ statements that stand in a handler's JavaScript, where a statement or an operand may:
//
//   const rows = SELECT name FROM users WHERE age > $limit;
//   for (const row of SELECT ...) { ... }
//
// A statement begins with one of the words of IsSqlVerb (any case) or with parentheses before one,
// and ends as SqlLength says. It is SQL++ when the SQL++ parser reads it and JavaScript would not:
// a name is followed by another name, say. Where both could (SELECT * FROM `x`; is a
// multiplication), it is SQL++ unless the program declares the variables SELECT and FROM, or no
// blank follows the verb. Text that JavaScript must refuse after the verb, and SQL++ does not read,
// is an error with the SQL++ parser's message.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "function/source/token_list.h"

namespace sluice::function {

// Bytes that a handler's candidates may have together: each is read to its end, so words that
// merely look like verbs cost time.
inline constexpr size_t kMaxCandidateBytes = 4 << 20;

// A keyspace as the statement names it: bucket, bucket.scope.collection, or a collection alone.
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
  std::vector<SqlTarget> targets;       // what INSERT, UPSERT, UPDATE, DELETE and MERGE write to
};

struct EmbeddedSql {
  TokenList tokens;  // of all of the text, with a kSql token for each statement
  std::vector<EmbeddedStatement> statements;
  std::vector<Status> errors;  // function.sql_syntax, function.sql_parameter
};

// `known_names` are global names besides the program's own: those of bindings. `text` outlives the
// tokens.
EmbeddedSql FindEmbeddedSql(std::string_view text, const std::set<std::string>& known_names);

bool IsSqlVerb(std::string_view word);

enum class SqlConsistency { kUnset, kNone, kRequest };

// The JavaScript that runs the statement: N1QL('...', {'$a': a}). It has as many lines.
std::string CallText(const EmbeddedStatement& statement, SqlConsistency consistency);

}  // namespace sluice::function
