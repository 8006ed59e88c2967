// A cache of documents that JavaScript migrated, for the next reader of the same document: a script
// costs as much as ten reads. Bounded in bytes; the least recently used documents go first. When
// the cache is full, it takes only one of kTakenOneIn new documents. So if readers cycle through
// more documents than fit, most of the cached ones stay and are useful.
//
// An entry belongs to one version of a document. CAS and sequence distinguish versions. A hash of
// the text distinguishes the texts of one version that the server itself rewrites without a new CAS
// (ARCHITECTURE.md). Any thread.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/locked.h"
#include "db/document.h"

namespace sluice::doctype_db {

class MigratedDocuments {
 public:
  explicit MigratedDocuments(size_t max_bytes) : max_bytes_(max_bytes) {}

  std::optional<std::string> Find(std::string_view key, const db::DocumentView& stored);
  // Ignores a document that was never stored, because it has no version.
  void Keep(std::string_view key, const db::DocumentView& stored, std::string_view migrated);

  size_t bytes() const { return cache_.Lock()->bytes; }

  // When the cache is full, it takes one of this many new documents.
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
  struct Cache {
    Entries entries;  // the last one used first
    std::unordered_map<std::string_view, Entries::iterator> by_key;
    size_t bytes = 0;
    size_t asked = 0;  // new documents that came when there was no room

    void Remove(Entries::iterator entry);
  };

  const size_t max_bytes_;
  Locked<Cache> cache_;
};

}  // namespace sluice::doctype_db
