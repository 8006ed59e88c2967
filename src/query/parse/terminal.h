// Terminal: a keyword or a symbol of the language. `At("SELECT")` in the parser is checked and
// looked up when the parser is compiled: a word that is not listed here does not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::query {

inline constexpr std::string_view kSymbols[] = {"!=", "%", "(", ")", "*",  "+",  ",",  "-",  ".",
                                                "/",  ":", ";", "<", "<=", "<>", "=",  "==", ">",
                                                ">=", "?", "[", "]", "^",  "{",  "||", "}"};

// Sorted. As a name, such a word needs back quotes.
inline constexpr std::string_view kReservedWords[] = {
    "ADVISE",     "ALL",          "ALTER",        "ANALYZE",   "AND",       "ANY",
    "ARRAY",      "AS",           "ASC",          "AT",        "BEGIN",     "BETWEEN",
    "BINARY",     "BOOLEAN",      "BREAK",        "BUCKET",    "BUILD",     "BY",
    "CACHE",      "CALL",         "CASE",         "CAST",      "CLUSTER",   "COLLATE",
    "COLLECTION", "COMMIT",       "COMMITTED",    "CONNECT",   "CONTINUE",  "CORRELATED",
    "COVER",      "CREATE",       "CURRENT",      "DATABASE",  "DATASET",   "DATASTORE",
    "DECLARE",    "DECREMENT",    "DELETE",       "DERIVED",   "DESC",      "DESCRIBE",
    "DISTINCT",   "DO",           "DROP",         "EACH",      "ELEMENT",   "ELSE",
    "END",        "ESCAPE",       "EVERY",        "EXCEPT",    "EXCLUDE",   "EXECUTE",
    "EXISTS",     "EXPLAIN",      "FALSE",        "FETCH",     "FILTER",    "FIRST",
    "FLATTEN",    "FLATTEN_KEYS", "FLUSH",        "FOLLOWING", "FOR",       "FORCE",
    "FROM",       "FTS",          "FUNCTION",     "GOLANG",    "GRANT",     "GROUP",
    "GROUPS",     "GSI",          "HASH",         "HAVING",    "IF",        "IGNORE",
    "ILIKE",      "IN",           "INCLUDE",      "INCREMENT", "INDEX",     "INFER",
    "INLINE",     "INNER",        "INSERT",       "INTERSECT", "INTO",      "IS",
    "ISOLATION",  "JAVASCRIPT",   "JOIN",         "KEY",       "KEYS",      "KEYSPACE",
    "KNOWN",      "LANGUAGE",     "LAST",         "LATERAL",   "LEFT",      "LET",
    "LETTING",    "LEVEL",        "LIKE",         "LIMIT",     "LSM",       "MAP",
    "MAPPING",    "MATCHED",      "MATERIALIZED", "MAXVALUE",  "MERGE",     "MINVALUE",
    "MISSING",    "NAMESPACE",    "NEST",         "NEXT",      "NEXTVAL",   "NL",
    "NO",         "NOT",          "NTH_VALUE",    "NULL",      "NULLS",     "NUMBER",
    "OBJECT",     "OFFSET",       "ON",           "OPTION",    "OPTIONS",   "OR",
    "OTHERS",     "OUTER",        "OVER",         "PARSE",     "PARTITION", "PASSWORD",
    "PATH",       "POOL",         "PRECEDING",    "PREPARE",   "PREV",      "PREVVAL",
    "PRIMARY",    "PRIVATE",      "PRIVILEGE",    "PROBE",     "PROCEDURE", "PUBLIC",
    "RANGE",      "RAW",          "READ",         "REALM",     "RECURSIVE", "REDUCE",
    "RENAME",     "REPLACE",      "RESPECT",      "RESTART",   "RESTRICT",  "RETURN",
    "RETURNING",  "REVOKE",       "RIGHT",        "ROLE",      "ROLES",     "ROLLBACK",
    "ROW",        "ROWS",         "SATISFIES",    "SAVE",      "SAVEPOINT", "SCHEMA",
    "SCOPE",      "SELECT",       "SELF",         "SET",       "SHOW",      "SOME",
    "START",      "STATISTICS",   "STRING",       "SYSTEM",    "THEN",      "TIES",
    "TO",         "TRAN",         "TRANSACTION",  "TRIGGER",   "TRUE",      "TRUNCATE",
    "UNBOUNDED",  "UNDER",        "UNION",        "UNIQUE",    "UNKNOWN",   "UNNEST",
    "UNSET",      "UPDATE",       "UPSERT",       "USE",       "USING",     "VALIDATE",
    "VALUE",      "VALUED",       "VALUES",       "VIA",       "VIEW",      "WHEN",
    "WHERE",      "WHILE",        "WINDOW",       "WITH",      "WITHIN",    "WORK",
    "XOR"};

// Sorted. Words with a meaning in places, which are names everywhere else.
inline constexpr std::string_view kSoftWords[] = {
    "ACTION",     "ADD",     "CASCADE",         "CATALOG", "CHECK",      "COLUMN",
    "CONSTRAINT", "CONSUME", "CREDENTIALSTORE", "CYCLE",   "DEFAULT",    "DENSE",
    "EXTERNAL",   "FOREIGN", "MULTI",           "ORDER",   "REFERENCES", "SEQUENCE",
    "SNAPSHOT",   "SOURCE",  "SPARSE",          "TABLE",   "TIMESTAMP",  "TYPE",
    "USER",       "USERS",   "VECTOR"};

class Terminal {
 public:
  constexpr Terminal() = default;
  consteval Terminal(const char* text) : id_(Find(text)) {
    if (id_ == 0) throw "neither a keyword nor a symbol";
  }

  // The terminal of a word in upper case or a symbol; the empty terminal for other texts.
  static constexpr Terminal Of(std::string_view text) {
    Terminal terminal;
    terminal.id_ = Find(text);
    return terminal;
  }

  constexpr bool none() const { return id_ == 0; }
  constexpr bool reserved() const { return id_ > kReservedFrom && id_ <= kSoftFrom; }
  constexpr std::string_view text() const {
    if (id_ == 0) return "";
    if (id_ <= kReservedFrom) return kSymbols[id_ - 1];
    return reserved() ? kReservedWords[id_ - kReservedFrom - 1] : kSoftWords[id_ - kSoftFrom - 1];
  }

  constexpr bool operator==(const Terminal&) const = default;

 private:
  static constexpr uint16_t kReservedFrom = std::size(kSymbols);
  static constexpr uint16_t kSoftFrom = kReservedFrom + std::size(kReservedWords);

  // The position in a sorted list, counted from 1; 0 if the list does not have it.
  template <size_t kSize>
  static constexpr uint16_t FindIn(const std::string_view (&list)[kSize], std::string_view text) {
    size_t low = 0;
    size_t high = kSize;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (list[middle] < text) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < kSize && list[low] == text ? static_cast<uint16_t>(low + 1) : 0;
  }

  static constexpr uint16_t Find(std::string_view text) {
    if (const uint16_t at = FindIn(kReservedWords, text); at != 0) return kReservedFrom + at;
    if (const uint16_t at = FindIn(kSoftWords, text); at != 0) return kSoftFrom + at;
    return FindIn(kSymbols, text);
  }

  uint16_t id_ = 0;
};

}  // namespace sluice::query
