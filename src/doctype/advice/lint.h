// Advice on a sample of documents: findings that cost bytes or are likely to cause problems. The
// rules are those of docs/reference/type-rules.md. Each finding has the rule's id, the path, the
// measured saving, and what a change may break.
//
//   repeated-id          the document's key, or its end, stands in its body
//   iso-date             RFC 3339 text where an epoch would do, in the precision that is used
//   month-date           "Dec 14, 2018" instead of 2018-12-14
//   fine-precision       epochs in milliseconds that are always whole seconds, minutes, hours, days
//   guid-dashes          dashes of GUIDs
//   number-text          numbers in quotes
//   long-name            names of more than kLongName bytes
//   empty-value          null, "", [] or {}
//   default-value        nearly always the same value
//   repeated-element     the same value in every element of an array
//   no-type, no-version  nothing says what a document is, or which version of it
//   key-prefix           keys without a word in front
//   key-delimiters       keys divided by different characters
//   root-underscore      names that begin with _ do not synchronise with mobile devices
//   unbounded-array      arrays that grow
//   near-limit           documents near the limit of their size
//   large-part           a field that has most of the documents' bytes
//   mixed-types          one path with values of several types
//   old-versions         documents that are not at the current version
//   unread-field         no query or function reads it
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "doctype/advice/statistics.h"
#include "doctype/type.h"
#include "json/value.h"

namespace sluice::doctype {

enum class Risk : uint8_t {
  kLow,     // readers do not notice, or only this one field is concerned
  kMedium,  // readers of the field must be changed
  kHigh,    // keys or many readers change
};
std::string_view RiskName(Risk risk);

struct Finding {
  std::string rule;
  std::string path;  // empty for the document or its key
  uint64_t documents = 0;
  double share = 0;  // of the documents in the sample
  uint64_t bytes_saved = 0;
  Risk risk = Risk::kLow;
  std::string message;
  std::string example;
  // A draft of what to do, one of these: a list of declarative steps; the body of a step's function
  // in JavaScript; or, where no migration can do it, a part of a type file, statements or a
  // command.
  json::Value migration;
  std::string script;
  std::string instead;
};

struct LintOptions {
  static constexpr size_t kLongName = 15;
  static constexpr uint64_t kLongArray = 100;

  const Type* type = nullptr;  // whose properties and limits are meant, if that is known
  bool synchronised = false;   // documents go to mobile devices
  std::string keyspace;        // for statements that are proposed; empty: it is not known
  // The documents of the keyspace; 0 if the sample has all of them.
  uint64_t documents_there = 0;
  uint64_t limit_bytes = 20 << 20;
  // Paths that queries and functions read, if that was observed.
  std::optional<std::set<std::string>> read_paths;
  std::set<std::string> read_names;  // a field of such a name counts as read, wherever it is
};

struct LintReport {
  uint64_t documents = 0;         // that were looked at
  uint64_t bytes = 0;             // of them
  uint64_t documents_there = 0;   // of the keyspace; savings are those of all of them
  std::vector<Finding> findings;  // those that save most first

  bool sampled() const { return documents < documents_there; }
};

LintReport Lint(const SampleStatistics& sample, const LintOptions& options);

// For people: a table with bars, then the advice for each finding.
std::string ToText(const LintReport& report);
json::Value ToJson(const LintReport& report);

}  // namespace sluice::doctype
