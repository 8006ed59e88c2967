// Commits that are to be compared with the documents that they replace, for advice on types. The
// writer only notes them, with a snapshot from before the commit; the background reads and compares
// (DatabaseImpl::CompareSamples).
//
// Concurrency: any thread.
// Bounds: kMaxWaiting commits and kMaxBytes of documents wait; further ones are not looked at.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "db/commit.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

class UpdateSamples {
 public:
  static constexpr size_t kMaxWaiting = 1024;
  static constexpr size_t kMaxBytes = 4 << 20;

  struct Update {
    KeyspaceId keyspace = 0;
    std::string key;
    std::string body;
  };
  struct Sample {
    std::vector<Update> updates;
    std::unique_ptr<storage::Snapshot> before;
  };

  // Before the commit is submitted.
  void Note(const Commit& commit, const storage::Store& store);
  std::vector<Sample> Take();

 private:
  Mutex mutex_;
  std::vector<Sample> waiting_ GUARDED_BY(mutex_);
  size_t bytes_ GUARDED_BY(mutex_) = 0;  // of the bodies in waiting_
};

}  // namespace sluice::db
