// What migrations in JavaScript made of documents, for the next reader of the same one: a script
// costs as much as ten reads. Bounded in bytes; those that were not asked for longest go first.
// Once it is full, only some of the new ones are taken in: of more documents than there is room
// for, read in turn, as many as there is room for stay.
//
// An entry is of one version of a document. CAS and sequence tell versions apart, and a hash those
// texts of one version that the server itself makes of each other (ARCHITECTURE.md). Any thread.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/document.h"

namespace sluice::doctype_db {

class MigratedDocuments {
 public:
  explicit MigratedDocuments(size_t max_bytes) : max_bytes_(max_bytes) {}

  std::optional<std::string> Find(std::string_view key, const db::DocumentView& stored);
  // What was never stored has no version, and is not kept.
  void Keep(std::string_view key, const db::DocumentView& stored, std::string_view migrated);

  size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

  // Of new ones, when there is no room.
  static constexpr size_t kTakenOneIn = 32;

 private:
  struct Version {
    db::Sequence sequence = 0;
    db::Cas cas = 0;
    size_t text = 0;

    static Version Of(const db::DocumentView& stored);
    bool operator==(const Version&) const = default;
  };
  struct Entry {
    std::string key;
    Version version;
    std::string migrated;
  };
  using Entries = std::list<Entry>;
  static size_t BytesOf(std::string_view key, std::string_view migrated);
  void Remove(Entries::iterator entry);  // needs the mutex

  const size_t max_bytes_;
  mutable std::mutex mutex_;  // of all below
  Entries entries_;           // the last one used first
  std::unordered_map<std::string_view, Entries::iterator> by_key_;
  size_t bytes_ = 0;
  size_t asked_ = 0;  // when there was no room
};

}  // namespace sluice::doctype_db
