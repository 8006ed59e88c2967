// Observes how clients use documents since the server's start, for advice on document types: which
// paths statements read, which keyspaces they join, which fields updates change. Small and bounded;
// nothing is stored.
//
// A statement is entered when it is planned and counted each time it runs, which is one atomic
// addition. The first kFirstCommits commits are compared, then one of kSampledCommits. Any thread.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/locked.h"
#include "db/types.h"

namespace sluice::db {

// The paths that a statement reads in one keyspace. `whole`: it reads whole documents, so that it
// is not known which paths are used.
struct KeyspaceUse {
  KeyspaceId keyspace = 0;
  bool whole = false;
  std::set<std::string> paths;  // a.b[].c

  auto operator<=>(const KeyspaceUse&) const = default;
};

// A join of documents of `from` with those of `to`, by a path of the former (empty: by no path).
struct JoinUse {
  KeyspaceId from = 0;
  std::string path;
  KeyspaceId to = 0;

  auto operator<=>(const JoinUse&) const = default;
};

struct StatementUse {
  std::vector<KeyspaceUse> reads;
  std::vector<JoinUse> joins;

  auto operator<=>(const StatementUse&) const = default;
};

// The fields of the root that an update changed.
struct FieldChanges {
  std::set<std::string> changed;
  std::set<std::string> longer;  // of them, arrays that have more elements than before
};

struct KeyspaceTraffic {
  uint64_t statements = 0;                  // runs of those that read the keyspace
  uint64_t whole = 0;                       // of them, those that read whole documents
  std::map<std::string, uint64_t> paths;    // runs by path
  std::map<JoinUse, uint64_t> joins;        // runs of those from or to this keyspace
  uint64_t updates = 0;                     // that were compared
  std::map<std::string, uint64_t> changed;  // of them, by field of the root
  std::map<std::string, uint64_t> alone;    // of them, those that changed nothing else
  std::map<std::string, uint64_t> longer;   // of them, those that made the field's array longer
  bool complete = true;                     // false: some use did not fit
};

class Traffic {
 public:
  static constexpr size_t kMaxStatements = 4096;  // with different uses
  static constexpr size_t kMaxPathsPerStatement = 200;
  static constexpr size_t kMaxKeyspaces = 1000;  // with updates
  static constexpr size_t kMaxFields = 500;      // of each
  static constexpr uint64_t kFirstCommits = 1000;
  static constexpr uint64_t kSampledCommits = 64;

  using Runs = std::shared_ptr<std::atomic<uint64_t>>;
  // The counter of all statements with the same use; null when there are too many.
  Runs Enter(StatementUse use);

  // Whether to compare the next commit.
  bool SampleNow() {
    const uint64_t commit = commits_.fetch_add(1, std::memory_order_relaxed);
    return commit < kFirstCommits || commit % kSampledCommits == 0;
  }
  void Updated(KeyspaceId keyspace, const FieldChanges& changes);

  KeyspaceTraffic Of(KeyspaceId keyspace) const;

 private:
  struct Updates {
    uint64_t seen = 0;
    std::map<std::string, uint64_t> changed;
    std::map<std::string, uint64_t> alone;
    std::map<std::string, uint64_t> longer;
    bool complete = true;
  };
  struct Seen {
    std::map<StatementUse, Runs> statements;
    bool all_statements = true;  // false: some did not fit
    std::map<KeyspaceId, Updates> updates;
  };
  std::atomic<uint64_t> commits_ = 0;
  Locked<Seen> seen_;
};

// The fields of the root in which two documents differ; none if one of them is no object.
FieldChanges ChangedFields(std::string_view before, std::string_view after);

}  // namespace sluice::db
