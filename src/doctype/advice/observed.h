// The observed use of a keyspace's documents since the server's start: the paths that statements
// read, the keyspaces that they join, the fields that updates change, and the names in code. The
// server makes it; the advice reads it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "doctype/advice/embed.h"
#include "doctype/advice/lint.h"
#include "json/value.h"

namespace sluice::doctype {

struct ObservedJoin {
  std::string from;  // keyspaces
  std::string path;  // of `from`; empty if documents are not joined by one
  std::string to;
  uint64_t runs = 0;
  uint64_t statements = 0;  // runs of all statements that read `from`
  uint64_t updates = 0;     // of documents of `to` that were looked at
};

struct Observed {
  // With fewer statements or less time, reads that happen once a day may be missing.
  static constexpr uint64_t kLeastStatements = 1000;
  static constexpr uint64_t kLeastSeconds = 24 * 3600;

  std::string since;                        // the server's start
  uint64_t seconds = 0;                     // from then on
  uint64_t statements = 0;                  // runs of those that read the keyspace, other reads
  uint64_t whole = 0;                       // of them, and of reads without one, whole documents
  std::map<std::string, uint64_t> paths;    // runs by path
  uint64_t updates = 0;                     // that were looked at
  std::map<std::string, uint64_t> changed;  // of them, by field of the root
  std::map<std::string, uint64_t> alone;    // of them, those that changed nothing else
  std::map<std::string, uint64_t> longer;   // of them, those that made the field's array longer
  std::vector<ObservedJoin> joins;
  uint64_t sources = 0;         // texts of functions, procedures and flows
  std::set<std::string> names;  // that stand in them
  bool complete = true;         // false: there was more than was kept

  // Whether unread fields are known: enough statements were observed for long enough, none reads
  // whole documents, and none was left out.
  bool KnowsReads() const {
    return complete && whole == 0 && statements >= kLeastStatements && seconds >= kLeastSeconds;
  }
  std::map<std::string, PathTraffic> Paths() const;
};

json::Value ToJson(const Observed& observed);
Result<Observed> ObservedFromJson(const json::Value& value);

// Adds the names that stand anywhere in a program's text.
void AddNames(std::string_view code, std::set<std::string>* names);

// For each join whether the documents that are read together should be one.
struct JoinVerdict {
  ObservedJoin join;
  bool embed = false;
  std::string rule;  // of the guide
};
std::vector<JoinVerdict> JudgeJoins(const Observed& observed);

// "seen since ...": a few lines and a table of joins.
std::string ToText(const Observed& observed, const std::vector<JoinVerdict>& joins);
json::Value ToJson(const std::vector<JoinVerdict>& joins);

}  // namespace sluice::doctype
