// Remembers when the documents of a shard were last written. A writer reads documents before it
// queues its commit; if no later commit wrote such a document, the committer need not read it
// again.
//
// Keys share slots, so the answer may be "changed" for an unchanged document, never the reverse.
// The committer's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "db/types.h"

namespace sluice::db {

class LastWrites {
 public:
  // The commit with that sequence wrote the document or its revisions.
  void Note(std::string_view row_key, Sequence sequence) { slots_[Slot(row_key)] = sequence; }
  // It may have written any document: a task between groups does not say which.
  void NoteAll(Sequence sequence) { all_ = sequence; }

  // Whether a reader that saw all commits up to `sequence` has seen the present document.
  bool UnchangedSince(std::string_view row_key, Sequence sequence) const {
    return all_ <= sequence && slots_[Slot(row_key)] <= sequence;
  }

 private:
  static constexpr size_t kSlots = 1 << 16;  // 512 KB
  static size_t Slot(std::string_view row_key) {
    return std::hash<std::string_view>()(row_key) % kSlots;
  }

  std::vector<Sequence> slots_ = std::vector<Sequence>(kSlots);
  Sequence all_ = 0;
};

}  // namespace sluice::db
