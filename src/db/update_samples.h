// A sample of commits, for advice on document types: the fields that updates change. The writer
// notes a commit, with a snapshot from before it; the background reads the replaced documents and
// compares them (DatabaseImpl::CompareSamples).
//
// Concurrency: any thread.
// Bounds: at most kMaxWaiting commits and kMaxBytes of documents wait; further commits are not
// compared.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/locked.h"
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
  struct Waiting {
    std::vector<Sample> samples;
    size_t bytes = 0;  // of their bodies
  };
  Locked<Waiting> waiting_;
};

}  // namespace sluice::db
