#include "cli/sql_help.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace sluice::cli {
namespace {

constexpr std::string_view kCommandHelp =
    R"(\d                    list the keyspaces
\d KEYSPACE           show its indexes and the fields of its documents
\c [BUCKET.SCOPE]     set the scope of short keyspace names; without a name, remove it
\o table|json|lines|cdb2  set the format of results
\timing               turn the display of times on or off
\i FILE               run the statements of a file
\h [STATEMENT]        show the syntax of a statement
\q                    leave
\?                    show this list
A statement ends with ; or $$. Ctrl-C cancels it, Tab completes words, the arrow keys bring old lines back.
)";

struct Syntax {
  std::string_view statement;
  std::string_view text;
};

constexpr Syntax kSyntax[] = {
    {"SELECT", R"([WITH name AS (query), ...]
SELECT [DISTINCT] {* | expression [AS name], ... | RAW expression}
FROM keyspace [AS name] [USE KEYS keys]
     [[LEFT | RIGHT] JOIN keyspace [AS name] ON condition]
     [[LEFT] NEST keyspace [AS name] ON condition]
     [[LEFT] UNNEST expression [AS name]]
[LET name = expression, ...] [WHERE condition]
[GROUP BY expression, ... [LETTING name = expression, ...] [HAVING condition]]
[{UNION | INTERSECT | EXCEPT} [ALL] SELECT ...]
[ORDER BY expression [ASC | DESC] [NULLS FIRST | NULLS LAST], ...] [LIMIT n] [OFFSET n])"},
    {"INSERT", R"(INSERT INTO keyspace (KEY, VALUE [, OPTIONS])
{VALUES (key, document [, options]), ... | (KEY expression, VALUE expression) SELECT ...}
[RETURNING expressions]
INSERT INTO table [(column, ...)] {VALUES (expression, ...), ... | SELECT ...}
[ON CONFLICT [(column, ...)] {DO NOTHING | DO UPDATE SET column = expression, ... [WHERE condition]}]
[RETURNING expressions])"},
    {"REPLACE", R"(REPLACE INTO table [(column, ...)] {VALUES (expression, ...), ... | SELECT ...}
[RETURNING expressions])"},
    {"UPSERT",
     R"(UPSERT INTO keyspace (KEY, VALUE [, OPTIONS]) VALUES (key, document [, options]), ...
[RETURNING expressions])"},
    {"UPDATE", R"(UPDATE keyspace [USE KEYS keys] [SET path = expression, ...] [UNSET path, ...]
[WHERE condition] [LIMIT n] [RETURNING expressions])"},
    {"DELETE", R"(DELETE FROM keyspace [USE KEYS keys] [WHERE condition] [LIMIT n]
[RETURNING expressions])"},
    {"MERGE", R"(MERGE INTO keyspace AS target USING source ON condition
[WHEN MATCHED THEN UPDATE SET path = expression, ... | WHEN MATCHED THEN DELETE]
[WHEN NOT MATCHED THEN INSERT (key, document)] [LIMIT n] [RETURNING expressions])"},
    {"CREATE INDEX",
     R"(CREATE INDEX name ON keyspace (expression [ASC | DESC], ...) [WHERE condition]
CREATE INDEX name ON keyspace (DISTINCT ARRAY expression FOR name IN path END)
CREATE PRIMARY INDEX [name] ON keyspace)"},
    {"CREATE COLLECTION", "CREATE COLLECTION bucket.scope.collection [IF NOT EXISTS]"},
    {"CREATE SCOPE", "CREATE SCOPE bucket.scope [IF NOT EXISTS]"},
    {"CREATE BUCKET", "CREATE BUCKET name [IF NOT EXISTS]"},
    {"DROP", R"(DROP INDEX name ON keyspace
DROP COLLECTION bucket.scope.collection [IF EXISTS]
DROP SCOPE bucket.scope [IF EXISTS]
DROP BUCKET name [IF EXISTS])"},
    {"BUILD INDEX", "BUILD INDEX ON keyspace (name, ...)"},
    {"EXPLAIN", "EXPLAIN statement"},
    {"PREPARE", "PREPARE name FROM statement"},
    {"EXECUTE", "EXECUTE name [USING parameters]"},
    {"INFER", R"(INFER keyspace [WITH {"sample_size": n}])"},
    {"BEGIN", "BEGIN TRANSACTION"},
    {"COMMIT", "COMMIT"},
    {"ROLLBACK", "ROLLBACK [TO SAVEPOINT name]"},
    {"SAVEPOINT", "SAVEPOINT name"},
};

}  // namespace

std::string_view SqlCommandHelp() { return kCommandHelp; }

std::string SqlSyntaxHelp(std::string_view statement) {
  std::string wanted(statement);
  std::ranges::transform(wanted, wanted.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string help;
  for (const Syntax& syntax : kSyntax) {
    if (wanted.empty()) {
      help += fmt::format("{}\n", syntax.statement);
    } else if (syntax.statement.starts_with(wanted)) {
      help += fmt::format("{}{}\n", help.empty() ? "" : "\n", syntax.text);
    }
  }
  return help;
}

}  // namespace sluice::cli
