#include "function/document_cache.h"

namespace sluice::function {
namespace {

constexpr size_t kEntryBytes = 256;  // of an entry besides its texts, about

}  // namespace

const db::Document* DocumentCache::Find(db::KeyspaceId keyspace, std::string_view key,
                                        uint64_t now_ns) {
  const auto found = by_place_.find({keyspace, std::string(key)});
  if (found == by_place_.end()) return nullptr;
  const Entries::iterator entry = found->second;
  if (now_ns - entry->read_ns > max_age_ns_) {
    Remove(entry);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return &entry->document;
}

bool DocumentCache::Put(db::KeyspaceId keyspace, std::string_view key, db::Document document,
                        uint64_t now_ns) {
  Erase(keyspace, key);
  const size_t bytes = kEntryBytes + 2 * key.size() + document.body.size() + document.xattrs.size();
  if (bytes > max_bytes_) return false;
  bool room = true;
  while (bytes_ + bytes > max_bytes_) {
    room = false;
    Remove(std::prev(entries_.end()));
  }
  entries_.push_front({{keyspace, std::string(key)}, std::move(document), now_ns, bytes});
  by_place_.emplace(entries_.front().where, entries_.begin());
  bytes_ += bytes;
  return room;
}

void DocumentCache::Erase(db::KeyspaceId keyspace, std::string_view key) {
  const auto found = by_place_.find({keyspace, std::string(key)});
  if (found != by_place_.end()) Remove(found->second);
}

void DocumentCache::Clear() {
  by_place_.clear();
  entries_.clear();
  bytes_ = 0;
}

void DocumentCache::Remove(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_place_.erase(entry->where);
  entries_.erase(entry);
}

}  // namespace sluice::function
