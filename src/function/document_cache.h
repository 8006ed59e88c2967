// Caches the documents that a handler has read, for reads that accept an old version. Bounded by
// bytes and age; the least recently used document leaves first. One thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "db/document.h"
#include "db/types.h"

namespace sluice::function {

class DocumentCache {
 public:
  DocumentCache(uint64_t max_bytes, uint64_t max_age_ms)
      : max_bytes_(max_bytes), max_age_ns_(max_age_ms * 1'000'000) {}

  // Null when the document is not cached, or too old. Valid until the next call of another method.
  const db::Document* Find(db::KeyspaceId keyspace, std::string_view key, uint64_t now_ns);
  // False when other documents had to leave for it, or it does not fit at all.
  bool Put(db::KeyspaceId keyspace, std::string_view key, db::Document document, uint64_t now_ns);
  void Erase(db::KeyspaceId keyspace, std::string_view key);
  void Clear();

 private:
  using Where = std::pair<db::KeyspaceId, std::string>;
  struct Entry {
    Where where;
    db::Document document;
    uint64_t read_ns = 0;
    size_t bytes = 0;
  };
  using Entries = std::list<Entry>;

  void Remove(Entries::iterator entry);

  const uint64_t max_bytes_;
  const uint64_t max_age_ns_;
  Entries entries_;  // most recently used first
  std::map<Where, Entries::iterator> by_place_;
  size_t bytes_ = 0;
};

}  // namespace sluice::function
