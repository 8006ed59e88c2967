// The documents of a keyspace in key order, or a sample of them, from one snapshot. Whoever asks
// takes them part by part, so that memory stays bounded however many there are.
//
// One thread at a time; Next blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/database.h"
#include "db/document.h"
#include "db/sample.h"
#include "db/types.h"

namespace sluice::service {

struct ScanRequest {
  db::KeyspaceId keyspace = 0;
  db::ScanOptions range;        // from, to, prefix, reverse
  uint64_t limit = UINT64_MAX;  // documents
  bool keys_only = false;       // values are not looked at
  bool stored = false;          // as they are stored, not as their types have them read
  std::string schema;           // the version of their type's schema; empty for the current one
  bool revisions = false;       // after each document those that are kept of it
  bool sampled = false;         // some from all over the keyspace, as they are stored
  uint64_t sample = 0;          // so many of them; 0: as many as is usual
};

// Where documents go.
class ScanSink {
 public:
  virtual ~ScanSink() = default;
  // Also revisions, by their own keys.
  virtual void OnDocument(std::string_view key, const db::DocumentView& document) = 0;
  // A document that can't be read in the version that it is to be read in.
  virtual void OnUnreadable(std::string_view key, const Status& why) = 0;
  // Whether it takes no more for now.
  virtual bool full() const = 0;
};

class DocumentScan {
 public:
  static constexpr size_t kPartRows = 1000;

  DocumentScan(const db::Database& database, ScanRequest request);

  // Reads on from where the last call ended: until the sink is full, kPartRows documents were given
  // or the scan is finished.
  Status Next(ScanSink& sink);
  bool finished() const { return finished_; }
  // After the end: where another scan continues, as `from` or, in reverse, as `to`; empty when
  // there is no more.
  const std::string& next() const { return next_; }

 private:
  class Part;

  Status NextOfSample(ScanSink& sink);

  const db::Database& database_;
  ScanRequest request_;
  const bool raw_;  // rows are read as they are, and those of deleted documents left out here
  std::unique_ptr<db::DatabaseSnapshot> snapshot_;
  std::unique_ptr<db::DocumentCursor> sample_;
  uint64_t remaining_;  // how many more documents are wanted
  bool finished_ = false;
  std::string next_;
};

}  // namespace sluice::service
