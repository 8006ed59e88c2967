// Many documents that are written independently of each other: an error of one is reported, and the
// others are written. For a thread that may block.
//
//   Import import(database, {.insert = true, .actor = user});
//   for (...) import.Write(number, std::move(write));   // or import.Fail(number, why)
//   ImportOutcome outcome = import.Finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/locked.h"
#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "service/commit_window.h"

namespace sluice::service {

struct ImportOptions {
  bool insert = false;  // a key that is there already is an error
  std::string actor = {};
};

// What became of the documents, by the numbers that they were given with.
struct ImportOutcome {
  static constexpr size_t kMaxReported = 100;

  uint64_t imported = 0;
  uint64_t replaced = 0;  // of them: the key was there before
  uint64_t failed = 0;
  uint64_t violated = 0;     // stored although they do not fit their types
  uint64_t quarantined = 0;  // stored in another keyspace for that reason
  // The first of each kind, whatever the order in which they became known.
  std::map<uint64_t, Status> errors;
  std::map<uint64_t, db::WriteResult> violations;
};

class Import {
 public:
  Import(db::Database& database, ImportOptions options);

  // Waits while too many are under way. The write has its keyspace.
  void Write(uint64_t number, db::Write write);
  void Fail(uint64_t number, const Status& why);
  // Waits for all.
  ImportOutcome Finish();

 private:
  void Done(uint64_t number, const db::WriteResult& written, bool replaced);
  bool IsThere(const db::Write& write);

  db::Database& database_;
  const ImportOptions options_;
  std::set<std::string> keys_;     // seen so far
  Locked<ImportOutcome> outcome_;  // committers add to it, too
  CommitWindow window_;            // last: its commits use the others
};

}  // namespace sluice::service
