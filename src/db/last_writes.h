// When the documents of a shard were last written, for the committer: what a writer read of a
// document before it queued its commit still holds if no later commit wrote that document, and then
// need not be read again.
//
// Keys share slots, so the answer may be too careful, never too bold. The committer's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "db/types.h"

namespace sluice::db {

class LastWrites {
 public:
  // Of the document, or of its revisions, by the commit with that sequence.
  void Note(std::string_view row_key, Sequence sequence) { slots_[Slot(row_key)] = sequence; }
  // Of any document: work between groups does not say which.
  void NoteAll(Sequence sequence) { all_ = sequence; }

  // Whether whoever saw all commits up to `sequence` has seen the document as it is.
  bool UnchangedSince(std::string_view row_key, Sequence sequence) const {
    return all_ <= sequence && slots_[Slot(row_key)] <= sequence;
  }

 private:
  static constexpr size_t kSlots = 1 << 16;  // 512 KB; many more than commits that wait
  static size_t Slot(std::string_view row_key) {
    return std::hash<std::string_view>()(row_key) % kSlots;
  }

  std::vector<Sequence> slots_ = std::vector<Sequence>(kSlots);
  Sequence all_ = 0;
};

}  // namespace sluice::db
